"""The fields of a Europe PMC response that are read, and those left out on purpose (WIRE 4)."""

from workers.ingest.parsers.base import LeftOut
from workers.ingest.parsers.json_payload import Fields

_COUNTERS = "a count or a mark of the service: moves without the work"
_MACHINE = "when Europe PMC or NLM touched the record: moves without the work"
_PERSONS = "the names suffice"
LEFT_OUT: LeftOut = {
    "citedByCount": _COUNTERS,
    "hasReferences": _COUNTERS,
    "hasTextMinedTerms": _COUNTERS,
    "hasDbCrossReferences": _COUNTERS,
    "hasLabsLinks": _COUNTERS,
    "hasTMAccessionNumbers": _COUNTERS,
    "hasEvaluations": _COUNTERS,
    "hasData": _COUNTERS,
    "hasPDF": _COUNTERS,
    "hasBook": _COUNTERS,
    "hasSuppl": _COUNTERS,
    "inEPMC": "says whether there is a full text to fetch; a document of its own",
    "inPMC": "as inEPMC",
    "authMan": _COUNTERS,
    "epmcAuthMan": _COUNTERS,
    "nihAuthMan": _COUNTERS,
    "manuscriptId": "of the submission to a repository",
    "fullTextIdList/*": "the PMCID again",
    "fullTextUrlList/*": "copies elsewhere; the record's own page is the URL",
    "fullTextReceivedDate": _MACHINE,
    "dataLinksTagsList/*": _COUNTERS,
    "dbCrossReferenceList/*": "text-mined cross references",
    "subsetList/*": "NLM's subsets of journals",
    "firstIndexDate": _MACHINE,
    "dateOfCreation": _MACHINE,
    "dateOfCompletion": _MACHINE,
    "dateOfRevision": _MACHINE,
    "publicationStatus": _MACHINE,
    "pubModel": "print or electronic: how, not what",
    "affiliation": _PERSONS,
    "authorIdList/*": _PERSONS,
    "authorList.author[].initials": _PERSONS,
    "authorList.author[].authorId/*": _PERSONS,
    "authorList.author[].authorAffiliationDetailsList/*": _PERSONS,
    "investigatorList/*": _PERSONS,
    "journalInfo.journalIssueId": "a number of Europe PMC's own",
    "journalInfo.yearOfPublication": "firstPublicationDate and dateOfPublication say it",
    "journalInfo.monthOfPublication": "as yearOfPublication",
    "bookOrReportDetails.yearOfPublication": "as yearOfPublication",
    "chemicalList.chemical[].registryNumber": "the name suffices",
    "meshHeadingList.meshHeading[].meshQualifierList.meshQualifier[].abbreviation": "of its name",
    "grantsList.grant[].grantId": "the agency suffices",
    "grantsList.grant[].acronym": "the agency suffices",
    "grantsList.grant[].orderIn": "place in the list",
    "commentCorrectionList.commentCorrection[].reference": "the id names the other record",
    "commentCorrectionList.commentCorrection[].note": "how Europe PMC found the link",
    "commentCorrectionList.commentCorrection[].orderIn": "place in the list",
    "versionList/*": "the other versions of a preprint are records of their own",
}
_MAPPED = """
    id source pmid pmcid doi title abstractText authorString journalTitle journalVolume issue
    journalIssn pageInfo pubType pubYear firstPublicationDate electronicPublicationDate
    language isOpenAccess license versionNumber pubTypeList.pubType[] keywordList.keyword[]
    authorList.author[].fullName authorList.author[].firstName authorList.author[].lastName
    authorList.author[].collectiveName
    journalInfo.volume journalInfo.issue journalInfo.dateOfPublication
    journalInfo.printPublicationDate journalInfo.journal.title
    journalInfo.journal.medlineAbbreviation journalInfo.journal.isoabbreviation
    journalInfo.journal.issn journalInfo.journal.essn journalInfo.journal.nlmid
    bookOrReportDetails.publisher
    meshHeadingList.meshHeading[].descriptorName meshHeadingList.meshHeading[].majorTopic_YN
    meshHeadingList.meshHeading[].meshQualifierList.meshQualifier[].qualifierName
    meshHeadingList.meshHeading[].meshQualifierList.meshQualifier[].majorTopic_YN
    chemicalList.chemical[].name
    grantsList.grant[].agency tmAccessionTypeList.accessionType[]
    commentCorrectionList.commentCorrection[].type commentCorrectionList.commentCorrection[].id
    commentCorrectionList.commentCorrection[].source
"""
RESULT = Fields(_MAPPED.split(), LEFT_OUT)
ENVELOPE = Fields(
    ["version", "hitCount", "nextCursorMark", "nextPageUrl", "request/*", "resultList/*"], {}
)
