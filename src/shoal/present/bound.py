"""How far a release is from the best possible one, in words."""


def bound_phrase(gap: float | None, *, estimated: bool) -> str | None:
    """How much more than the best possible release a release loses at most; None where that cannot be said."""
    if gap is None:
        return None
    about = "by an estimate " if estimated else ""
    if gap < 0.0005:
        return f"{about}as good as any release can be"
    if gap >= 9:
        return f"{about}at most {gap + 1:.0f} times what the best possible release loses"
    share = f"{100 * gap:.0f}" if gap >= 0.0995 else f"{100 * gap:.1f}"
    return f"{about}at most {share}% above the best possible release"
