"""The commands of `attest`, one file each."""
