"""The pipeline: from data and policy to a verified release."""

from shoal.pipeline.release import Published, Release, anonymize, publish

__all__ = ["Published", "Release", "anonymize", "publish"]
