import { join, resolve } from 'node:path';
import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { CertsOptions } from '../../../base/config/certs.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { type ParsedOptions, parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { accessOf } from '../api-access.js';
import { checkFiles } from '../check-files.js';
import type { Command, CommandContext } from '../command.js';

const groups = { certs: CertsOptions, client: ApiClientOptions } as const;
type Options = ParsedOptions<typeof groups>;
const forms = ['check', 'renew [NAME...]', 'upload'];

export const certsCommand: Command = {
  name: 'certs',
  summary:
    'Show when certificates expire, renew them, or hand over authorities to further control planes: certs check, ' +
    'certs renew [NAME...], certs upload. The check exits with 1 when one has expired.',
  groups,
  operands: { forms, words: ['check', 'renew', 'upload'], files: false },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const options = parseOptions({ groups, argv: flags, environment: context.environment });
    const { certDir, output } = options.certs;
    const [action, ...names] = operands;
    const { defaultConfigFolder } = await import('../cluster/config-folder.js');
    const directory = resolve(certDir ?? join(defaultConfigFolder(), 'pki'));
    const now = systemClock.now();
    if (action === 'renew') {
      const { renewCertificates } = await import('../cluster/renew-certificates.js');
      for (const line of await renewCertificates(directory, names, now)) context.print(line);
      context.print(
        'Servers read new certificates by themselves; what clients have copied of them has to be copied again.',
      );
      return;
    }
    if (action === 'upload' && names.length === 0) return upload(options, directory, context);
    if (action !== 'check' || names.length > 0) throw new OptionsError([`needs ${forms.join(', ')}`]);
    const { storedCertificates } = await import('../pki/stored-pairs.js');
    const { certificateTable, describeCertificate } = await import('../cluster/certificate-table.js');
    const described = (await storedCertificates(directory)).map((stored) => describeCertificate(stored, now));
    if (output === 'json') context.print(JSON.stringify(described, undefined, 2));
    else for (const line of certificateTable(described)) context.print(line);
    if (described.some(({ expires }) => Date.parse(expires) <= now)) context.endWith(1);
  },
};

async function upload(options: Options, directory: string, context: CommandContext): Promise<void> {
  await checkFiles({ client: ApiClientOptions }, options);
  const { withAdminApi } = await import('../cluster/admin-api.js');
  const { adminKubeconfig } = await import('../cluster/admin-kubeconfig.js');
  const { CertificateKey } = await import('../cluster/control-plane/certificate-key.js');
  const { uploadSharedFiles } = await import('../cluster/control-plane/upload-shared-files.js');
  const given = options.certs.certificateKey;
  const key = given === undefined ? CertificateKey.generate() : CertificateKey.parse(given);
  const access = await accessOf(options.client, adminKubeconfig(context.environment));
  await withAdminApi(access, 'plinth-certs', context.signals.signal, (admin) =>
    uploadSharedFiles(admin, directory, key),
  );
  context.print(options.certs.output === 'json' ? JSON.stringify({ certificateKey: key.toString() }) : key.toString());
}
