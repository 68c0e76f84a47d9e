-- Half of the work of storing an abstract was to compress it to a quarter of a page. Two to a page
-- take a quarter more room on disk.
ALTER TABLE document_version SET (toast_tuple_target = 4080);

-- Nothing is looked up by these, and looking at them was most of the work of ANALYZE.
ALTER TABLE document_version
    ALTER text SET STATISTICS 0,
    ALTER structure SET STATISTICS 0,
    ALTER authors SET STATISTICS 0,
    ALTER subjects SET STATISTICS 0,
    ALTER facts SET STATISTICS 0;
