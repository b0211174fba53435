"""The draft of a policy, from the data alone: what `shoal init` writes and a person then reads and corrects."""

from shoal.draft.draft import draft_facts, draft_name
from shoal.draft.write import PolicyDraft, policy_text
from shoal.io import base_name

__all__ = ["PolicyDraft", "base_name", "draft_facts", "draft_name", "policy_text"]
