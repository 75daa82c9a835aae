import {
  type DynamicModule,
  type INestApplicationContext,
  Inject,
  Injectable,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import type { Logger } from '../observability/logger.js';
import { NestLog } from '../observability/nest-log.js';

/** Nest logs nothing while an application starts, and never exits the process. */
export const quietly = { logger: false, abortOnError: false } as const;

/**
 * Makes and starts an application without a listener, from a module and its imports. Closing it stops everything.
 *
 * @throws the error that keeps it from starting; nothing stays open then.
 */
export async function openApplicationContext(module: DynamicModule, logger: Logger): Promise<INestApplicationContext> {
  let modules: HeldModules | undefined;
  const instanceDecorator = (instance: unknown): unknown => {
    if (instance instanceof HeldModules) modules = instance;
    return instance;
  };
  try {
    const context = await NestFactory.createApplicationContext(
      { ...module, providers: [...(module.providers ?? []), HeldModules] },
      { ...quietly, instrument: { instanceDecorator } },
    );
    context.useLogger(new NestLog(logger));
    return context;
  } catch (error) {
    await modules?.shutDown();
    throw error;
  }
}

/**
 * Nest does not return an application that failed to start. This provider has access to its modules and stops them as
 * Nest would.
 */
@Injectable()
class HeldModules {
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {}

  async shutDown(): Promise<void> {
    for (const { providers } of [...this.modules.values()].sort((a, b) => a.distance - b.distance)) {
      for (const { instance } of providers.values()) {
        await (instance as Partial<OnApplicationShutdown> | undefined)?.onApplicationShutdown?.();
      }
    }
  }
}
