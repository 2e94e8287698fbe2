# One image for all roles: `docker run logpipeline <role>`; without a role, standalone.
# Pin the base by digest with --build-arg NODE_IMAGE=node:24.21.0-trixie-slim@sha256:...
ARG NODE_IMAGE=node:24.21.0-trixie-slim

FROM ${NODE_IMAGE} AS base
WORKDIR /app
COPY package.json package-lock.json ./

FROM base AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY hack/build.ts hack/build.ts
COPY dataplane dataplane
COPY operator operator
RUN node hack/build.ts

# Without Node itself, which npm brings for machines that have none.
FROM base AS packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/node-linux-* node_modules/.bin

FROM base AS rootfs
COPY hack/image/rootfs.sh ./
RUN sh rootfs.sh /rootfs /usr/local/bin/node

FROM scratch
COPY --from=rootfs /rootfs /
COPY --from=packages /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
# In a container the other side of a port is never 127.0.0.1. The allocator's settings are those of hack/logpipeline.
ENV PATH=/usr/local/bin \
    NODE_ENV=production \
    HOST=0.0.0.0 \
    DATA_DIR=/data \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=65536 \
    MALLOC_TRIM_THRESHOLD_=98304 \
    MALLOC_TOP_PAD_=32768
WORKDIR /data
# The only place that is written to, and only by roles with embedded storage: the root file system may be read-only.
VOLUME /data
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node", "--disable-warning=ExperimentalWarning", "--disable-warning=TimeoutNegativeWarning", "--single-threaded-gc", "--max-semi-space-size=8", "/app/dist/dataplane/main.js"]
CMD ["standalone"]
