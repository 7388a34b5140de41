"""Keeping watch: what :class:`calcert.Monitor` is made of. Each file holds one idea."""
