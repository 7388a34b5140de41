"""The commands: each reads, summarises, certifies and shows, and computes nothing itself."""
