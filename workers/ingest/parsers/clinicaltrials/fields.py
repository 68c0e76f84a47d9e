"""The fields of a ClinicalTrials.gov study that a record holds or leaves out, with reasons.

Paths are those of the registry's OpenAPI document (schema Study); each is on one of the lists.
"""

from workers.ingest.parsers.base import LeftOut
from workers.ingest.parsers.json_payload import Fields

_DATE = "date type"
_DENOMS = "units counts[].groupId counts[].value"
_GROUPS = "id title description"
_MEASUREMENTS = "groupId value spread lowerLimit upperLimit comment"
_OUTCOME = "measure description timeFrame"
_EVENT = "term organSystem notes stats[].groupId stats[].numEvents stats[].numAffected"
_P = "protocolSection"
_R = "resultsSection"
_STATUS = f"{_P}.statusModule"
_FLOW = f"{_R}.participantFlowModule"
_BASELINE = f"{_R}.baselineCharacteristicsModule"
_MEASURED = f"{_R}.outcomeMeasuresModule.outcomeMeasures[]"
_HARMS = f"{_R}.adverseEventsModule"
_NOTES = "annotationSection.annotationModule"

_BY_PLACE = {
    "": "hasResults",
    f"{_P}.identificationModule": """nctId nctIdAliases[] briefTitle officialTitle acronym
        orgStudyIdInfo.id orgStudyIdInfo.type orgStudyIdInfo.link organization.fullName""",
    f"{_P}.identificationModule.secondaryIdInfos[]": "id type domain link",
    _STATUS: """statusVerifiedDate overallStatus lastKnownStatus delayedPosting whyStopped
        expandedAccessInfo.hasExpandedAccess expandedAccessInfo.nctId
        expandedAccessInfo.statusForNctId studyFirstSubmitDate resultsFirstSubmitDate
        dispFirstSubmitDate lastUpdateSubmitDate""",
    f"{_STATUS}.startDateStruct": _DATE,
    f"{_STATUS}.primaryCompletionDateStruct": _DATE,
    f"{_STATUS}.completionDateStruct": _DATE,
    f"{_STATUS}.studyFirstPostDateStruct": _DATE,
    f"{_STATUS}.resultsFirstPostDateStruct": _DATE,
    f"{_STATUS}.dispFirstPostDateStruct": _DATE,
    f"{_STATUS}.lastUpdatePostDateStruct": _DATE,
    f"{_P}.sponsorCollaboratorsModule": "leadSponsor.name leadSponsor.class",
    f"{_P}.sponsorCollaboratorsModule.collaborators[]": "name class",
    f"{_P}.sponsorCollaboratorsModule.responsibleParty": """type investigatorFullName
        investigatorTitle investigatorAffiliation oldNameTitle oldOrganization""",
    f"{_P}.oversightModule": """oversightHasDmc isFdaRegulatedDrug isFdaRegulatedDevice
        isUnapprovedDevice isPpsd isUsExport fdaaa801Violation""",
    f"{_P}.descriptionModule": "briefSummary detailedDescription",
    f"{_P}.conditionsModule": "conditions[] keywords[]",
    f"{_P}.designModule": """studyType phases[] patientRegistry targetDuration
        expandedAccessTypes.individual expandedAccessTypes.intermediate
        expandedAccessTypes.treatment bioSpec.retention bioSpec.description
        enrollmentInfo.count enrollmentInfo.type""",
    f"{_P}.designModule.designInfo": """allocation interventionModel interventionModelDescription
        primaryPurpose observationalModel timePerspective maskingInfo.masking
        maskingInfo.maskingDescription maskingInfo.whoMasked[]""",
    f"{_P}.armsInterventionsModule.armGroups[]": "label type description interventionNames[]",
    f"{_P}.armsInterventionsModule.interventions[]": """type name description armGroupLabels[]
        otherNames[]""",
    f"{_P}.outcomesModule.primaryOutcomes[]": _OUTCOME,
    f"{_P}.outcomesModule.secondaryOutcomes[]": _OUTCOME,
    f"{_P}.outcomesModule.otherOutcomes[]": _OUTCOME,
    f"{_P}.eligibilityModule": """eligibilityCriteria healthyVolunteers sex genderBased
        genderDescription minimumAge maximumAge stdAges[] studyPopulation samplingMethod""",
    f"{_P}.contactsLocationsModule": "locations[].country locations[].status",
    f"{_P}.contactsLocationsModule.overallOfficials[]": "name affiliation role",
    f"{_P}.referencesModule.references[]": """pmid type citation retractions[].pmid
        retractions[].source""",
    f"{_P}.referencesModule.seeAlsoLinks[]": "label url",
    f"{_P}.referencesModule.availIpds[]": "id type url comment",
    f"{_P}.ipdSharingStatementModule": """ipdSharing description infoTypes[] timeFrame
        accessCriteria url""",
    _FLOW: "preAssignmentDetails recruitmentDetails typeUnitsAnalyzed periods[].title",
    f"{_FLOW}.groups[]": _GROUPS,
    f"{_FLOW}.periods[].milestones[]": "type comment",
    f"{_FLOW}.periods[].milestones[].achievements[]": "groupId comment numSubjects numUnits",
    f"{_FLOW}.periods[].dropWithdraws[]": "type comment",
    f"{_FLOW}.periods[].dropWithdraws[].reasons[]": "groupId comment numSubjects numUnits",
    _BASELINE: "populationDescription typeUnitsAnalyzed",
    f"{_BASELINE}.groups[]": _GROUPS,
    f"{_BASELINE}.denoms[]": _DENOMS,
    f"{_BASELINE}.measures[]": """title description populationDescription paramType dispersionType
        unitOfMeasure classes[].title classes[].categories[].title""",
    f"{_BASELINE}.measures[].denoms[]": _DENOMS,
    f"{_BASELINE}.measures[].classes[].denoms[]": _DENOMS,
    f"{_BASELINE}.measures[].classes[].categories[].measurements[]": _MEASUREMENTS,
    _MEASURED: """type title description populationDescription reportingStatus
        anticipatedPostingDate paramType dispersionType unitOfMeasure timeFrame typeUnitsAnalyzed
        classes[].title classes[].categories[].title""",
    f"{_MEASURED}.groups[]": _GROUPS,
    f"{_MEASURED}.denoms[]": _DENOMS,
    f"{_MEASURED}.classes[].denoms[]": _DENOMS,
    f"{_MEASURED}.classes[].categories[].measurements[]": _MEASUREMENTS,
    f"{_MEASURED}.analyses[]": """paramType paramValue dispersionType dispersionValue
        statisticalMethod statisticalComment pValue pValueComment ciNumSides ciPctValue ciLowerLimit
        ciUpperLimit ciLowerLimitComment ciUpperLimitComment estimateComment testedNonInferiority
        nonInferiorityType nonInferiorityComment otherAnalysisDescription groupDescription
        groupIds[]""",
    _HARMS: "frequencyThreshold timeFrame description allCauseMortalityComment",
    f"{_HARMS}.eventGroups[]": f"""{_GROUPS} deathsNumAffected deathsNumAtRisk seriousNumAffected
        seriousNumAtRisk otherNumAffected otherNumAtRisk""",
    f"{_HARMS}.seriousEvents[]": f"{_EVENT} stats[].numAtRisk",
    f"{_HARMS}.otherEvents[]": f"{_EVENT} stats[].numAtRisk",
    f"{_R}.moreInfoModule": "limitationsAndCaveats.description",
    f"{_NOTES}.unpostedAnnotation": """unpostedResponsibleParty unpostedEvents[].type
        unpostedEvents[].date unpostedEvents[].dateUnknown""",
    f"{_NOTES}.violationAnnotation.violationEvents[]": """type description creationDate issuedDate
        releaseDate postedDate""",
    "documentSection.largeDocumentModule": "noSap largeDocs[].label largeDocs[].date",
    "derivedSection.miscInfoModule": "removedCountries[]",
    "derivedSection.conditionBrowseModule.meshes[]": "id term",
    "derivedSection.interventionBrowseModule.meshes[]": "id term",
}

MAPPED = frozenset(
    f"{place}.{name}".lstrip(".") for place, names in _BY_PLACE.items() for name in names.split()
)

_SITES = "sites are counted by country and status, not listed"
_PERSONS = "whom to call: personal data, and no evidence"
_FILES = "about the file; the document is named by its label and date"
_SHOWN = "says how the registry's page shows the numbers"
_MESH = "follows from the MeSH terms, which are kept"
_CODING = "how terms were collected and coded, the same for most of them"
_LOCATIONS = f"{_P}.contactsLocationsModule.locations[]"
_LARGE_DOCUMENTS = "documentSection.largeDocumentModule.largeDocs[]"

LEFT_OUT: LeftOut = {
    f"{_P}.identificationModule.organization.class": "the sponsor's class is kept",
    f"{_STATUS}.studyFirstSubmitQcDate": "a step between submission and posting, both kept",
    f"{_STATUS}.resultsFirstSubmitQcDate": "a step between submission and posting, both kept",
    f"{_STATUS}.dispFirstSubmitQcDate": "a step between submission and posting, both kept",
    f"{_P}.designModule.nPtrsToThisExpAccNctId": "counts other records, not this one's facts",
    f"{_P}.contactsLocationsModule.centralContacts[]/*": _PERSONS,
    f"{_LOCATIONS}.facility": _SITES,
    f"{_LOCATIONS}.city": _SITES,
    f"{_LOCATIONS}.state": _SITES,
    f"{_LOCATIONS}.zip": _SITES,
    f"{_LOCATIONS}.geoPoint/*": _SITES,
    f"{_LOCATIONS}.contacts[]/*": _PERSONS,
    f"{_BASELINE}.measures[].calculatePct": _SHOWN,
    f"{_BASELINE}.measures[].denomUnitsSelected": _SHOWN,
    f"{_MEASURED}.calculatePct": _SHOWN,
    f"{_MEASURED}.denomUnitsSelected": _SHOWN,
    f"{_HARMS}.seriousEvents[].sourceVocabulary": _CODING,
    f"{_HARMS}.seriousEvents[].assessmentType": _CODING,
    f"{_HARMS}.otherEvents[].sourceVocabulary": _CODING,
    f"{_HARMS}.otherEvents[].assessmentType": _CODING,
    f"{_R}.moreInfoModule.certainAgreement/*": "contract terms between sponsor and investigators",
    f"{_R}.moreInfoModule.pointOfContact/*": _PERSONS,
    f"{_LARGE_DOCUMENTS}.typeAbbrev": _FILES,
    f"{_LARGE_DOCUMENTS}.hasProtocol": _FILES,
    f"{_LARGE_DOCUMENTS}.hasSap": _FILES,
    f"{_LARGE_DOCUMENTS}.hasIcf": _FILES,
    f"{_LARGE_DOCUMENTS}.uploadDate": _FILES,
    f"{_LARGE_DOCUMENTS}.filename": _FILES,
    f"{_LARGE_DOCUMENTS}.size": _FILES,
    "derivedSection.miscInfoModule.versionHolder": "the day of the whole data set: changes daily",
    "derivedSection.miscInfoModule.submissionTracking/*": "the registry's steps with unposted "
    "results; annotationSection says what is missing",
    "derivedSection.miscInfoModule.modelPredictions/*": "guessed by the registry, not stated",
    "derivedSection.conditionBrowseModule.ancestors[]/*": _MESH,
    "derivedSection.conditionBrowseModule.browseLeaves[]/*": _MESH,
    "derivedSection.conditionBrowseModule.browseBranches[]/*": _MESH,
    "derivedSection.interventionBrowseModule.ancestors[]/*": _MESH,
    "derivedSection.interventionBrowseModule.browseLeaves[]/*": _MESH,
    "derivedSection.interventionBrowseModule.browseBranches[]/*": _MESH,
}

FIELDS = Fields(MAPPED, LEFT_OUT)
