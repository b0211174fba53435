"""Man, Li & Wang: the worked example of grouping leakage; the paper has no experiment and no figure."""

from shoal.models import GroupLeakage, KAnonymity
from shoal.reproduce.masked import Masked, reached, view_of
from shoal.reproduce.paper import Section, Setting, Task
from shoal.reproduce.tables import MAN, MAN_1, MAN_2, MAN_3, MAN_ALPHA, MAN_QUASI


def worked(_: Setting) -> Section:
    """Tables 1 to 3 with p, k and the four limits of the text."""
    masked = Masked("man-table-3", MAN_1, MAN_3, MAN.content["trees"], ("Disease", "Disease"), key="No.")
    groups = {
        group: tuple(dict.fromkeys(row["Disease"] for row in MAN_3.records() if row["Grouping ID"] == group))
        for group in MAN_2
    }
    view = view_of(MAN_3, MAN_QUASI, "Disease", groups)
    model = GroupLeakage(2, alpha=MAN_ALPHA, sensitive="Disease")
    leakage = {group: float(model.reached(view)[f"alpha[{group}]"] or 0) for group in MAN_ALPHA}
    grouped = {value.lower() for values in MAN_2.values() for value in values}
    ungrouped = sorted({value for value in MAN_3.column("Disease") if value.lower() not in grouped})
    found = {
        "1-k": reached(view_of(MAN_1, MAN_QUASI, "Disease"), KAnonymity(2), "k"),
        **masked.comparison_with_print(3),
        "3-k": reached(view, KAnonymity(4), "k"),
        "3-p": reached(view, model, "p"),
        **{f"limit-{group}": "yes" if leakage[group] <= limit else "no" for group, limit in MAN_ALPHA.items()},
        "ungrouped": str(len(ungrouped)),
    }
    figures = {
        "leakage": ", ".join(f"{value:g}" for value in leakage.values()),
        "ungrouped": " and ".join(ungrouped),
    }
    return MAN.section("worked", figures, sheets=[masked.sheet()], found=found)


TASKS = (Task(MAN.name, "worked tables of Man et al.", lambda setting: [worked(setting)]),)
