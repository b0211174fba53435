"""The draft of a policy, from the data alone: what `shoal init` writes and a person then reads and corrects."""

from shoal.draft.draft import base_name, draft_policy

__all__ = ["base_name", "draft_policy"]
