import type { Message, MessageBus } from 'dbus-native';

const service = 'org.freedesktop.login1';
const path = '/org/freedesktop/login1';
const manager = 'org.freedesktop.login1.Manager';
const signalName = 'PrepareForShutdown';
const callMs = 10_000;
const hangUp = 1;

/** The service of systemd that announces shutdowns, over the bus of the system. */
export class Logind {
  private constructor(private readonly bus: MessageBus) {}

  /** @throws Error where there is no bus, or no such service on it */
  static async connect(address: string): Promise<Logind> {
    const { createClient } = (await import('dbus-native')).default;
    const bus = createClient({ busAddress: address, timeout: callMs });
    // Calls report the same error.
    bus.connection.on('error', () => undefined);
    const logind = new Logind(bus);
    try {
      await logind.longestDelayMs();
    } catch (error) {
      await logind.close();
      throw error;
    }
    return logind;
  }

  /** For how long a lock may delay a shutdown. */
  async longestDelayMs(): Promise<number> {
    const value = await this.bus.invoke({
      ...{ destination: service, path },
      ...{ interface: 'org.freedesktop.DBus.Properties', member: 'Get' },
      signature: 'ss',
      body: [manager, 'InhibitDelayMaxUSec'],
    });
    // The value comes with its signature.
    const [, [microseconds]] = value as [unknown, [number]];
    return Number(microseconds) / 1000;
  }

  /** Has the service read its configuration again. */
  async reload(): Promise<void> {
    await this.bus.invoke({
      ...{ destination: 'org.freedesktop.systemd1', path: '/org/freedesktop/systemd1' },
      ...{ interface: 'org.freedesktop.systemd1.Manager', member: 'KillUnit' },
      signature: 'ssi',
      body: ['systemd-logind.service', 'main', hangUp],
    });
  }

  /** @param listener receives whether a shutdown begins, or was cancelled */
  async onShutdown(listener: (begins: boolean) => void): Promise<void> {
    this.bus.connection.on('message', (message: Message) => {
      if (message.interface !== manager || message.member !== signalName) return;
      void this.isFromService(message).then((isTrue) => isTrue && listener(message.body?.[0] === true));
    });
    await this.bus.addMatch(
      `type='signal',sender='${service}',interface='${manager}',member='${signalName}',path='${path}'`,
    );
  }

  /** Resolves when the bus has closed the connection. */
  ended(): Promise<void> {
    return new Promise((resolve) => this.bus.connection.once('close', () => resolve()));
  }

  close(): Promise<void> {
    return this.bus.close();
  }

  /** Every program on the bus may send a signal with these names to this one. */
  private async isFromService({ sender }: Message): Promise<boolean> {
    const question = this.bus.invokeDbus({ member: 'GetNameOwner', signature: 's', body: [service] });
    const owner = await question.then(
      (name) => name,
      () => undefined,
    );
    return owner !== undefined && owner === sender;
  }
}
