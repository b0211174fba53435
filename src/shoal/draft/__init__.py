"""The draft of a policy, from the data alone: what `shoal init` writes and a person then reads and corrects."""

from shoal.draft.draft import draft_policy

__all__ = ["draft_policy"]
