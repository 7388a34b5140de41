"""One file a command; each reads, summarises, certifies and shows, and computes nothing itself."""
