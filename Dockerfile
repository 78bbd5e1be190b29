# dlbench with NumPy, built from this checkout. EXTRAS adds libraries: libraries,on-top,report
FROM debian:trixie-slim
ARG EXTRAS=report
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates g++ libbenchmark-dev python3-dev python3-venv valgrind \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN python3 -m venv /opt/dlbench && /opt/dlbench/bin/pip install --no-cache-dir "/src[$EXTRAS]"
ENV PATH="/opt/dlbench/bin:$PATH"
WORKDIR /work
ENTRYPOINT ["dlbench"]
