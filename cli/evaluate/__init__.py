"""`attest evaluate`: measurements on labelled sets in standard layouts."""
