"""The pipeline: from data and policy to a verified release."""

from shoal.pipeline.anonymization import anonymize, publish
from shoal.pipeline.release import Published, Release

__all__ = ["Published", "Release", "anonymize", "publish"]
