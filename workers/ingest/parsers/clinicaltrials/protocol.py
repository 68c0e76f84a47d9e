"""Writes the protocol section of a ClinicalTrials.gov study as text, in clinical reading order."""

from collections import Counter

from workers.ingest.parsers.clinicaltrials.words import (
    bracketed,
    counted,
    dated,
    listed,
    phase,
    plain,
    repeated,
)
from workers.ingest.parsers.json_payload import Draft, Json, flag, obj, rows, text, texts

_DATES = (
    ("Study start", "startDateStruct"),
    ("Primary completion", "primaryCompletionDateStruct"),
    ("Study completion", "completionDateStruct"),
    ("First posted", "studyFirstPostDateStruct"),
    ("Results first posted", "resultsFirstPostDateStruct"),
    ("Certification to delay results posted", "dispFirstPostDateStruct"),
    ("Last update posted", "lastUpdatePostDateStruct"),
)
_SUBMITTED = (
    ("First submitted", "studyFirstSubmitDate"),
    ("Results first submitted", "resultsFirstSubmitDate"),
    ("Certification to delay results submitted", "dispFirstSubmitDate"),
    ("Last update submitted", "lastUpdateSubmitDate"),
    ("Status verified by the sponsor", "statusVerifiedDate"),
)
_OVERSIGHT = (
    ("Data monitoring committee", "oversightHasDmc"),
    ("Drug regulated by the FDA", "isFdaRegulatedDrug"),
    ("Device regulated by the FDA", "isFdaRegulatedDevice"),
    ("Device not approved or cleared by the FDA", "isUnapprovedDevice"),
    ("Pediatric postmarket surveillance of a device", "isPpsd"),
    ("Product exported from the United States", "isUsExport"),
    ("Violation of FDAAA 801", "fdaaa801Violation"),
)
_EXPANDED_ACCESS = (
    ("individual patients", "individual"),
    ("intermediate-size population", "intermediate"),
    ("treatment protocol", "treatment"),
)


def write_protocol(draft: Draft, study: Json) -> None:
    """Write the protocol except its references, which come last in a record."""
    protocol = obj(study, "protocolSection")
    _summary(draft, protocol)
    _status(draft, obj(protocol, "statusModule"))
    _design(draft, obj(protocol, "designModule"))
    conditions = obj(protocol, "conditionsModule")
    draft.section("Conditions and keywords")
    draft.fact("Conditions", listed(texts(conditions, "conditions")))
    draft.fact("Search terms", listed(texts(conditions, "keywords")))
    _arms(draft, obj(protocol, "armsInterventionsModule"))
    outcomes = obj(protocol, "outcomesModule")
    for kind in ("primary", "secondary", "other"):
        draft.section(f"{kind.capitalize()} outcomes")
        for outcome in rows(outcomes, f"{kind}Outcomes"):
            _outcome(draft, kind, outcome)
    _eligibility(draft, obj(protocol, "eligibilityModule"))
    _sponsor(draft, protocol)
    _locations(draft, study)
    _sharing(draft, study)


def write_references(draft: Draft, study: Json) -> None:
    """Write the publications and links."""
    module = obj(study, "protocolSection", "referencesModule")
    draft.section("References")
    for reference in rows(module, "references"):
        pmid = text(reference, "pmid")
        name = bracketed(f"PMID {pmid}" if pmid else "Reference", plain(text(reference, "type")))
        draft.item(f"{name}: {text(reference, 'citation')}".removesuffix(": "))
        retracted = repeated(name)
        for retraction in rows(reference, "retractions"):
            notice = bracketed(f"PMID {text(retraction, 'pmid')}", text(retraction, "source"))
            draft.item(f"{retracted} is retracted by {notice}")
    draft.section("Links")
    for link in rows(module, "seeAlsoLinks"):
        draft.item(listed((text(link, "label"), text(link, "url"))))


def _summary(draft: Draft, protocol: Json) -> None:
    identification = obj(protocol, "identificationModule")
    description = obj(protocol, "descriptionModule")
    draft.section("Summary")
    draft.fact("Official title", text(identification, "officialTitle"))
    draft.fact("Acronym", text(identification, "acronym"))
    draft.fact("Registered as", text(identification, "nctId"))
    draft.fact("Former registrations", listed(texts(identification, "nctIdAliases")))
    draft.paragraph(text(description, "briefSummary"))
    draft.section("Detailed description")
    draft.paragraph(text(description, "detailedDescription"))


def _status(draft: Draft, status: Json) -> None:
    draft.section("Status")
    draft.fact("Overall status", plain(text(status, "overallStatus")))
    draft.fact("Last known status", plain(text(status, "lastKnownStatus")))
    draft.fact("Why stopped", text(status, "whyStopped"))
    for name, field in _DATES:
        draft.fact(name, dated(obj(status, field)))
    for name, field in _SUBMITTED:
        draft.fact(name, text(status, field))
    draft.fact("Posting delayed", yes_no(status, "delayedPosting"))
    expanded = obj(status, "expandedAccessInfo")
    draft.fact("Expanded access", yes_no(expanded, "hasExpandedAccess"))
    draft.fact(
        "Expanded access record",
        bracketed(text(expanded, "nctId"), plain(text(expanded, "statusForNctId"))),
    )


def _design(draft: Draft, design: Json) -> None:
    info = obj(design, "designInfo")
    masking = obj(info, "maskingInfo")
    draft.section("Design")
    draft.fact("Study type", plain(text(design, "studyType")))
    draft.fact("Phase", phase(design))
    draft.fact("Allocation", plain(text(info, "allocation")))
    draft.fact("Intervention model", plain(text(info, "interventionModel")))
    draft.paragraph(text(info, "interventionModelDescription"))
    who = listed(plain(code) for code in texts(masking, "whoMasked"))
    draft.fact("Masking", bracketed(plain(text(masking, "masking")), who))
    draft.paragraph(text(masking, "maskingDescription"))
    draft.fact("Primary purpose", plain(text(info, "primaryPurpose")))
    draft.fact("Observational model", plain(text(info, "observationalModel")))
    draft.fact("Time perspective", plain(text(info, "timePerspective")))
    enrollment = obj(design, "enrollmentInfo")
    count = counted(enrollment, "count")
    noun = "participant" if count == "1" else "participants"
    draft.fact(
        "Enrollment", bracketed(f"{count} {noun}" if count else "", plain(text(enrollment, "type")))
    )
    draft.fact("Patient registry", yes_no(design, "patientRegistry"))
    draft.fact("Target duration", text(design, "targetDuration"))
    access = obj(design, "expandedAccessTypes")
    for name, field in _EXPANDED_ACCESS:
        draft.fact(f"Expanded access for {name}", yes_no(access, field))
    specimens = obj(design, "bioSpec")
    draft.fact("Biospecimens", plain(text(specimens, "retention")))
    draft.paragraph(text(specimens, "description"))


def _arms(draft: Draft, module: Json) -> None:
    draft.section("Arms and interventions")
    for arm in rows(module, "armGroups"):
        label = repeated(text(arm, "label"))
        name = bracketed(f'Arm "{label}"', plain(text(arm, "type")))
        draft.item(_described(name, arm))
        draft.fact(f'Interventions of arm "{label}"', listed(texts(arm, "interventionNames")))
    for intervention in rows(module, "interventions"):
        label = repeated(text(intervention, "name"))
        name = bracketed(f'Intervention "{label}"', plain(text(intervention, "type")))
        draft.item(_described(name, intervention))
        draft.fact(f'Other names of "{label}"', listed(texts(intervention, "otherNames")))
        draft.fact(f'Arms with "{label}"', listed(texts(intervention, "armGroupLabels")))


def _described(name: str, value: Json) -> str:
    description = text(value, "description")
    return f"{name}: {description}" if description else name


def _outcome(draft: Draft, kind: str, outcome: Json) -> None:
    draft.fact(f"{kind.capitalize()} outcome", text(outcome, "measure"))
    measure = repeated(text(outcome, "measure")) or "an outcome"
    draft.fact(f"Time frame of {measure}", text(outcome, "timeFrame"))
    draft.paragraph(text(outcome, "description"))


def _eligibility(draft: Draft, module: Json) -> None:
    draft.section("Eligibility")
    sex = text(module, "sex")
    draft.fact("Eligible sex", "all" if sex == "ALL" else plain(sex))
    draft.fact("Eligibility based on gender", yes_no(module, "genderBased"))
    draft.fact("Gender eligibility", text(module, "genderDescription"))
    draft.fact("Minimum age", text(module, "minimumAge"))
    draft.fact("Maximum age", text(module, "maximumAge"))
    draft.fact("Age groups", listed(plain(code) for code in texts(module, "stdAges")))
    draft.fact("Healthy volunteers accepted", yes_no(module, "healthyVolunteers"))
    draft.fact("Sampling method", plain(text(module, "samplingMethod")))
    draft.fact("Population studied", text(module, "studyPopulation"))
    draft.paragraph(text(module, "eligibilityCriteria"))


def _sponsor(draft: Draft, protocol: Json) -> None:
    module = obj(protocol, "sponsorCollaboratorsModule")
    lead = obj(module, "leadSponsor")
    party = obj(module, "responsibleParty")
    draft.section("Sponsor and collaborators")
    draft.fact("Sponsor", bracketed(text(lead, "name"), plain(text(lead, "class"))))
    for partner in rows(module, "collaborators"):
        draft.fact("Collaborator", bracketed(text(partner, "name"), plain(text(partner, "class"))))
    draft.fact(
        "Organization that keeps the record",
        text(protocol, "identificationModule", "organization", "fullName"),
    )
    draft.fact(
        "Responsible party",
        listed(
            (
                plain(text(party, "type")),
                text(party, "investigatorFullName"),
                text(party, "investigatorTitle"),
                text(party, "investigatorAffiliation"),
                text(party, "oldNameTitle"),
                text(party, "oldOrganization"),
            )
        ),
    )
    for official in rows(protocol, "contactsLocationsModule", "overallOfficials"):
        role = plain(text(official, "role")) or "official"
        draft.fact(
            role.capitalize(), listed((text(official, "name"), text(official, "affiliation")))
        )
    for name, field in _OVERSIGHT:
        draft.fact(name, yes_no(protocol, "oversightModule", field))


def _locations(draft: Draft, study: Json) -> None:
    sites = rows(study, "protocolSection", "contactsLocationsModule", "locations")
    countries = sites_by_country(study)
    draft.section("Locations")
    if sites:
        places = f"{len(countries):,} {'country' if len(countries) == 1 else 'countries'}"
        noun = "site" if len(sites) == 1 else "sites"
        draft.item(f"{len(sites):,} {noun} in {places}")
    draft.fact("Sites by country", listed(f"{name} {count:,}" for name, count in countries.items()))
    standing = Counter(plain(text(site, "status")) for site in sites)
    del standing[""]
    draft.fact(
        "Sites by recruitment status",
        listed(f"{name} {count:,}" for name, count in sorted(standing.items())),
    )
    removed = texts(study, "derivedSection", "miscInfoModule", "removedCountries")
    draft.fact("Countries without sites by now", listed(removed))


def sites_by_country(study: Json) -> dict[str, int]:
    """The number of sites per country, highest first."""
    sites = rows(study, "protocolSection", "contactsLocationsModule", "locations")
    counts = Counter(country for site in sites if (country := text(site, "country")))
    return dict(sorted(counts.items(), key=lambda place: (-place[1], place[0])))


def _sharing(draft: Draft, study: Json) -> None:
    sharing = obj(study, "protocolSection", "ipdSharingStatementModule")
    documents = obj(study, "documentSection", "largeDocumentModule")
    draft.section("Documents and data sharing")
    for document in rows(documents, "largeDocs"):
        draft.fact("Document", bracketed(text(document, "label"), text(document, "date")))
    draft.fact("No statistical analysis plan exists", yes_no(documents, "noSap"))
    draft.fact("Sharing of individual participant data", plain(text(sharing, "ipdSharing")))
    draft.paragraph(text(sharing, "description"))
    draft.fact("Shared documents", listed(plain(code) for code in texts(sharing, "infoTypes")))
    draft.fact("Shared from", text(sharing, "timeFrame"))
    draft.fact("Access to shared data", text(sharing, "accessCriteria"))
    draft.fact("Address of shared data", text(sharing, "url"))
    for data in rows(study, "protocolSection", "referencesModule", "availIpds"):
        parts = (text(data, "type"), text(data, "id"), text(data, "url"), text(data, "comment"))
        draft.fact("Available data", listed(parts))


def yes_no(value: Json, *path: str) -> str:
    """The boolean at `path` as `yes` or `no`, or "" if it is not stated."""
    answer = flag(value, *path)
    return "" if answer is None else "yes" if answer else "no"
