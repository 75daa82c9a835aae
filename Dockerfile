# The package is made as for a registry, and unpacked into an image that has Node and nothing else.
FROM node:26-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# No install script is needed here: Node is in the image and the embedded PostgreSQL is left out.
RUN npm ci --ignore-scripts
COPY . .
RUN npm pack --pack-destination /tmp \
  && mkdir /out \
  && tar -xzf /tmp/plinth-*.tgz -C /out --strip-components=1

FROM node:26-slim
ENV NODE_ENV=production \
  PLINTH_CERT_DIR=/var/lib/plinth/pki
WORKDIR /app
COPY --from=build /out ./
COPY deploy/healthcheck.js ./
# Generated certificates go here; a volume mounted on it belongs to the user below as well. All else may be read-only.
RUN mkdir -p /var/lib/plinth/pki && chown -R 1000:1000 /var/lib/plinth && chmod 700 /var/lib/plinth/pki
USER 1000:1000
EXPOSE 6443
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "/app/healthcheck.js"]
ENTRYPOINT ["node", "/app/bin/plinth.js"]
CMD ["serve"]
