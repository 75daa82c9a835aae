FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No install script is needed here: Node is in the image and the embedded Postgres is left out.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY bin bin
COPY src src
# Tests lie beside the code and need this to compile.
COPY test test
RUN npm run build \
  && npm prune --omit=dev --omit=optional --ignore-scripts \
  && rm -r dist/src dist/test

FROM node:26-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY bin bin
COPY migrations migrations
# Generated certificates go here; a volume mounted on it belongs to the user below as well.
RUN mkdir -p /var/lib/plinth/pki && chown -R node:node /var/lib/plinth && chmod 700 /var/lib/plinth/pki
ENV PLINTH_CERT_DIR=/var/lib/plinth/pki
USER node
EXPOSE 6443
ENTRYPOINT ["node", "/app/bin/plinth.js"]
CMD ["serve"]
