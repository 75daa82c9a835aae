import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type AppDependencies, AppModule } from './app.module.js';
import type { ServerOptions } from './base/config/server-options.js';
import { parseSniCertificate } from './base/config/sni-certificate.js';
import { tlsSettings } from './base/config/tls.options.js';
import type { Logger } from './base/observability/logger.js';
import { NestLog } from './base/observability/nest-log.js';
import { quietly } from './base/process/application-context.js';
import { beginServing } from './base/process/engine-phases.js';
import { AdvertiseModule } from './server/advertise/advertise.module.js';
import { AUDITOR, type Auditor } from './server/audit/auditor.js';
import { checkProxyAuthorities } from './server/authentication/request-header/build-request-header.js';
import { TlsFiles } from './server/authentication/x509/tls-files.js';
import { ConnectionCuts } from './server/endpoints/connection-cuts.js';
import { fastifyAdapter } from './server/endpoints/fastify-adapter.js';
import { startingHealthChecks } from './server/endpoints/health/server-health.js';
import { maxBodyBytes } from './server/endpoints/limits.js';
import { listenerOptions } from './server/endpoints/listener.js';
import { ServingState } from './server/endpoints/serving-state.js';
import { StartingListener } from './server/endpoints/starting-listener.js';
import { StatusFilter } from './server/endpoints/status.filter.js';

/** A running server process. */
export interface RunningServer extends Pick<INestApplicationContext, 'get'> {
  readonly url: string;
  /**
   * Fails readiness and keeps serving for the configured delay. Then accepts no more connections, ends watches, lets
   * open requests finish within their time limit, and stops everything, storage last.
   */
  stop(): Promise<void>;
}

/** What a process passes to its server. */
export interface ServerDependencies extends Omit<AppDependencies, 'tls'> {
  /** Answers health checks on the port from the beginning. Only for a process that has the port to itself until it serves. */
  readonly answersWhileStarting: boolean;
}

/**
 * Starts serving the API. Nest starts the modules in the order of their imports: storage first, then the resources,
 * then the caches that the first request needs, and the listener last. A stop goes the other way round. Waits for a
 * database that is not ready yet, until `signal` is aborted; the port answers health checks meanwhile.
 *
 * @throws the error that keeps any part from starting; nothing stays open then.
 */
export async function startServer(options: ServerOptions, dependencies: ServerDependencies): Promise<RunningServer> {
  const { logger } = dependencies;
  const { bindAddress, securePort } = options.secureServing;
  const tls = readTlsFiles(options, logger);
  const answer: StatusFilter['answer'] = (...failed) => app.get(StatusFilter).answer(...failed);
  const adapter = fastifyAdapter(
    listenerOptions(
      {
        ...options.secureServing,
        tls: tls.listenerOptions(),
        maxBodyBytes,
        requestTimeoutMs: options.api.requestTimeoutMs,
      },
      { answer },
      (refused) => app.get<Auditor | undefined>(AUDITOR)?.unread(refused),
      (...noted) => app.get(ConnectionCuts).note(...noted),
    ),
  );
  const module = AppModule.of(options, { ...dependencies, tls });
  const starting = dependencies.answersWhileStarting ? await listenWhileStarting(options, tls) : undefined;
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    ...quietly,
    bodyParser: false,
  }).catch(async (error: unknown) => {
    await starting?.close();
    throw error;
  });
  try {
    await app.init().finally(() => starting?.close());
    await app.listen(securePort, bindAddress);
  } catch (error) {
    await app.close();
    throw error;
  }
  app.useLogger(new NestLog(logger));
  app.get(AdvertiseModule).start();
  app.get(ServingState).markStarted();
  beginServing();
  const url = `https://${bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress}:${securePort}`;
  logger.info('serving', { url });

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await app.close();
    logger.info('stopped');
  };
  return {
    url,
    get: app.get.bind(app),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

function listenWhileStarting({ secureServing, api }: ServerOptions, tls: TlsFiles): Promise<StartingListener> {
  const { bindAddress, securePort } = secureServing;
  const checks = startingHealthChecks(new ServingState(), api.livezGracePeriodMs);
  // No request is authenticated yet, so the server requests no client certificates.
  const own = { ...tls.listenerOptions(), requestCert: false };
  return StartingListener.open({ address: bindAddress, port: securePort, tls: own, checks });
}

function readTlsFiles({ secureServing, authentication }: ServerOptions, logger: Logger): TlsFiles {
  const { tlsCertFile, tlsPrivateKeyFile, tlsSniCertKey } = secureServing;
  const { clientCaFile, requestheaderClientCaFile } = authentication;
  return new TlsFiles(
    {
      certificate: tlsCertFile,
      privateKey: tlsPrivateKeyFile,
      clientAuthorities: { client: clientCaFile, proxy: requestheaderClientCaFile },
      named: tlsSniCertKey.map(parseSniCertificate),
    },
    (authorities) => checkProxyAuthorities(authentication, authorities),
    logger,
    undefined,
    tlsSettings(secureServing),
  );
}
