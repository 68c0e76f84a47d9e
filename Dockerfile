# One image for every service of compose.yaml; the command says which part of Attest it is. What it is
# built on is pinned by digest: `make images` looks the tag up anew.

FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7 AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1
RUN python -m venv /opt/attest
# The locked packages are a layer of their own: it changes only with the lock.
COPY requirements.lock /src/
RUN /opt/attest/bin/pip install --require-hashes --no-deps -r /src/requirements.lock
COPY pyproject.toml README.md LICENSE /src/
COPY messages /src/messages
COPY contracts /src/contracts
COPY knowledge /src/knowledge
COPY store /src/store
COPY clinical_text /src/clinical_text
COPY workers /src/workers
COPY api_gateway /src/api_gateway
COPY scheduler /src/scheduler
COPY cli /src/cli
RUN /opt/attest/bin/pip install --no-deps --no-build-isolation /src

FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7
# Tesseract reads scanned pages and pictures of documents; without it they are refused with that advice.
RUN apt-get update && apt-get install --yes --no-install-recommends tesseract-ocr \
    && rm -rf /var/lib/apt/lists/*
# The number is fixed, so that a volume written by one image can be read by the next.
RUN useradd --system --uid 10001 --home-dir /var/lib/attest --create-home attest
COPY --from=build /opt/attest /opt/attest
ENV PATH=/opt/attest/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OMP_NUM_THREADS=1 \
    ATTEST_DATA_DIR=/var/lib/attest
USER attest
WORKDIR /var/lib/attest
STOPSIGNAL SIGTERM
ENTRYPOINT ["attest"]
CMD ["--help"]
