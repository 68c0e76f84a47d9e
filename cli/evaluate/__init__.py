"""`attest evaluate`: measurements on labelled data sets in standard layouts."""
