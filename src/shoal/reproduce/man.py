"""Man, Li & Wang: the worked example of grouping leakage; the paper has no experiment and no figure."""

from __future__ import annotations

from shoal.models import GroupLeakage, KAnonymity
from shoal.reproduce.section import Section, Setting, Statement, Task, figure, statement_sheet
from shoal.reproduce.tables import MAN_1, MAN_2, MAN_3, MAN_ALPHA, MAN_QUASI
from shoal.reproduce.worked import Masked, view_of

PAPER = "man"
TREES = {
    "Age": {"[20,50)": {
        "[20,30)": ["21", "22", "24", "27"], "[30,40)": ["32", "35", "36", "39"], "[40,50)": ["42", "45", "48", "49"],
    }},
    "Race": {"*": ["Black", "White"]},
    "Zip code": {
        "141**": {"1412*": ["14120", "14128"], "1415*": ["14150", "14152", "14156"]},
        "231**": {"2311*": ["23114"], "2314*": ["23141", "23143"]},
    },
}  # fmt: skip


def worked(_: Setting) -> Section:
    """Tables 1 to 3 with p, k and the four limits of the text."""
    masked = Masked("man-table-3", MAN_1, MAN_3, TREES, ("Disease", "Disease"), key="No.")
    groups = {
        group: tuple(dict.fromkeys(row["Disease"] for row in MAN_3.records() if row["Grouping ID"] == group))
        for group in MAN_2
    }
    view = view_of(MAN_3, MAN_QUASI, "Disease", groups)
    reached = GroupLeakage(2, alpha=MAN_ALPHA, sensitive="Disease").reached(view)
    spelled = {value.lower() for values in MAN_2.values() for value in values}
    unknown = {value for value in MAN_3.column("Disease") if value.lower() not in spelled}
    twice = "Table 1 prints tuberculosis, Table 3 Pulmonary tuberculosis, for record 5."
    statements = (
        Statement("Table 1: k", "1", figure(KAnonymity(2).reached(view_of(MAN_1, MAN_QUASI, "Disease"))["k"])),
        Statement("Table 3: cells that come out of Table 1", "48 of 48", masked.equal_cells(), "47 of 48", twice),
        Statement(
            "Table 3: records without an original (verifier)", "0", str(masked.without_original()), "1", twice,
        ),
        Statement("Table 3: k", "4", figure(KAnonymity(4).reached(view)["k"])),
        Statement(
            "Table 3: p, distinct groupings a class", "3", figure(reached["p"]), "2",
            "The caption says 3, the text 2; every class has two groupings.",
        ),
        *(
            Statement(
                f"Table 3: largest leakage of grouping {group} within its limit {limit:g}",
                "yes", "yes" if float(reached[f"alpha[{group}]"] or 0) <= limit else "no",
            )
            for group, limit in MAN_ALPHA.items()
        ),
        Statement(
            "Table 3: values that Table 2 does not group", "0", str(len(unknown)), "2",
            f"{' and '.join(sorted(unknown))} stand in Table 3; Table 2 has stomach pain and Tuberculosis.",
        ),
    )  # fmt: skip
    leakage = ", ".join(f"{float(reached[f'alpha[{group}]'] or 0):g}" for group in MAN_ALPHA)
    return Section(
        PAPER,
        "Worked example: leakage by grouping",
        "Man, Li & Wang, Tables 1-3",
        reports="Table 3 is printed as (3, α)-sensitive 4-anonymous; the text sets p = 2, k = 4 and limits of 0.5, "
        "0.6, 0.75 and 1 for the four groupings.",
        measured=f"The table satisfies k = {figure(KAnonymity(4).reached(view)['k'])}, p = {figure(reached['p'])}, "
        f"and no grouping takes more of a class than {leakage}, in the order of the groupings: all within the "
        "limits.",
        differs="The caption contradicts the text and the table: no class holds three groupings, so p is 2. "
        "Definition 3 asks for limits below 1, strictly rising, while the example gives the last grouping 1, which "
        "leaves it free; Shoal takes limits up to 1 and lets neighbours be equal. Two diseases have one name in "
        "Table 2 and another in the data.",
        sheets=(masked.sheet(), statement_sheet("man-statements", statements)),
        statements=statements,
    )


TASKS = (Task(PAPER, "worked tables of Man et al.", lambda setting: [worked(setting)]),)
