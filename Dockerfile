# The program `e2g`, for the service and its workers: as a user without rights, on a read-only file system.
#
#   docker build --tag e2g-neo4j .
#
# The build needs BuildKit. Behind a mirror or a proxy of PyPI, hand pip its settings and the
# certificates; they are not stored in the image:  --secret id=pip,src=pip.conf --secret id=certificates,src=ca.pem
ARG BASE=python:3.13-slim-bookworm

# The wheel of this program, and the default embedding models, of English and of Chinese.
FROM ${BASE} AS build
RUN python3 -m venv /opt/build
ENV PATH=/opt/build/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY light.lock /source/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=certificates \
    pip install --no-compile --require-hashes --only-binary :all: --requirement /source/light.lock
COPY . /source
RUN --mount=type=secret,id=certificates \
    if [ -f /run/secrets/certificates ]; then export REQUESTS_CA_BUNDLE=/run/secrets/certificates; fi; \
    cd /source && hatchling build --target wheel --directory /opt/wheel && pip install --no-deps --no-index /opt/wheel/*
RUN --mount=type=secret,id=certificates \
    if [ -f /run/secrets/certificates ]; then export REQUESTS_CA_BUNDLE=/run/secrets/certificates; fi; \
    XDG_CACHE_HOME=/opt/cache e2g models --fetch BAAI/bge-small-en-v1.5 BAAI/bge-small-zh-v1.5

# What is run.
FROM ${BASE} AS program
RUN python3 -m venv /opt/pip && python3 -m venv --without-pip /opt/e2g
ENV PATH=/opt/pip/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_PYTHON=/opt/e2g/bin/python
COPY docker/requirements.lock /source/docker/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=secret,id=certificates \
    pip install --no-deps --require-hashes --only-binary :all: --no-binary jieba \
        --requirement /source/docker/requirements.lock
RUN --mount=from=build,source=/opt/wheel,target=/opt/wheel pip install --no-deps --no-index /opt/wheel/*
# The cache of jieba, which has no wheel: it would be written to a read-only file system.
RUN XDG_CACHE_HOME=/opt/words /opt/e2g/bin/python -c 'import e2g_neo4j.models.entities.rules as r; r.load_rules("rules:zh")("\u597d")' \
    && chmod 644 /opt/words/e2g-neo4j/jieba.cache
# What nothing runs: tests, and OpenVINO's parts for GPUs and for formats of others.
RUN cd /opt/e2g/lib/python3*/site-packages && find . -type d -name tests -prune -exec rm -r {} + \
    && cd openvino/libs && rm libopenvino_intel_[gn]pu_plugin.so cache.json \
    && find . -name '*_frontend.so.*' ! -name '*_ir_*' ! -name '*_onnx_*' -delete

FROM ${BASE}
COPY --from=program /opt/e2g /opt/e2g
COPY --from=build /opt/cache /opt/cache
COPY --from=program /opt/words /opt/cache
ENV PATH=/opt/e2g/bin:$PATH HOME=/tmp XDG_CACHE_HOME=/opt/cache HF_HUB_OFFLINE=1
WORKDIR /data
USER 10001:10001
EXPOSE 8000
ENTRYPOINT ["e2g"]
CMD ["--help"]
