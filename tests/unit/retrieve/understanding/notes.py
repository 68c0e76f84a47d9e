"""Long questions, all made up, for tests."""

AF_NOTE = (
    "Mr. Quillfeather (record 4711, seen on 03/14/2026 in Springfield) is a 78-year-old man with "
    "a 6-year history of nonvalvular atrial fibrillation, CHA2DS2-VASc 5, hypertension, type 2 "
    "diabetes (HbA1c 7.4 %) and chronic kidney disease; his eGFR was 24 mL/min/1.73m2 last week "
    "and his hemoglobin 10.4 g/dL. He was in hospital two months ago for an upper GI bleed from a "
    "gastric ulcer while taking rivaroxaban, which was stopped, and H. pylori was eradicated. He "
    "has no history of stroke, denies alcohol use, and has no known coronary artery disease. His "
    "mother had breast cancer. Current medications are metoprolol, amlodipine, atorvastatin and "
    "pantoprazole. Echocardiography showed a preserved ejection fraction and a dilated left "
    "atrium, and he was once asked to join the EXAMPLE-HF trial. He lives with his wife, walks "
    "without aid and prefers as few pills as possible. Given his advanced kidney disease and the "
    "recent bleed, should anticoagulation be restarted, and which anticoagulant at which dose has "
    "the best balance of stroke and major bleeding for his atrial fibrillation? When should it be "
    "restarted, how should renal function be monitored, and would left atrial appendage occlusion "
    "be a reasonable alternative if he cannot tolerate it? How long should it continue before his "
    "cardiologist looks at it again, and what does a man like him have to know about it?"
)

PRIVATE = (
    "Quillfeather",
    "4711",
    "03/14/2026",
    "Springfield",
    "78",
    "24",
    "10.4",
    "mother",
    "wife",
)
"""What only this patient's note says."""
