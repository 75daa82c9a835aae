import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** A proxy that serves a console below a path, and nothing else; it keeps the Host header, as the console needs. */
export class ReverseProxy {
  private constructor(
    private readonly server: Server,
    /** The port of the console; set once it is known. */
    readonly target: { port: number },
  ) {}

  /**
   * @param path without a slash at its end
   * @param strips whether it takes the path away from the requests that it passes on
   */
  static async start(path: string, strips: boolean): Promise<ReverseProxy> {
    const target = { port: 0 };
    const passed = ({ url = '/' }: IncomingMessage) =>
      url.startsWith(path) ? (strips ? url.slice(path.length) || '/' : url) : undefined;
    const server = createServer((incoming, answer) => {
      const to = passed(incoming);
      if (to === undefined) return answer.writeHead(404).end();
      const { method, headers } = incoming;
      const sent = request({ host: '127.0.0.1', port: target.port, method, path: to, headers }, (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      });
      sent.on('error', () => answer.destroy());
      answer.on('close', () => sent.destroy());
      return incoming.pipe(sent);
    });
    server.on('upgrade', (incoming, socket) => {
      const to = passed(incoming);
      if (to === undefined) return socket.destroy();
      const console = connect(target.port, '127.0.0.1', () => {
        const fields = incoming.rawHeaders.flatMap((name, i, all) => (i % 2 === 0 ? [`${name}: ${all[i + 1]}`] : []));
        console.write(`GET ${to} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
        console.pipe(socket).pipe(console);
      });
      console.on('error', () => socket.destroy());
      return socket.on('error', () => console.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ReverseProxy(server, target);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
