import { join, resolve } from 'node:path';
import { CertsOptions } from '../../../base/config/certs.options.js';
import { OptionsError, parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import type { Command } from '../command.js';

const groups = { certs: CertsOptions } as const;
const forms = ['check', 'renew [NAME...]'];

export const certsCommand: Command = {
  name: 'certs',
  summary:
    'Show when certificates expire, or renew them: certs check, certs renew [NAME...]. ' +
    'The check exits with 1 when one has expired.',
  groups,
  operands: { forms, words: ['check', 'renew'], files: false },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const { certDir, output } = parseOptions({ groups, argv: flags, environment: context.environment }).certs;
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
    if (action !== 'check' || names.length > 0) throw new OptionsError([`needs ${forms.join(' or ')}`]);
    const { storedCertificates } = await import('../pki/stored-pairs.js');
    const { certificateTable, describeCertificate } = await import('../cluster/certificate-table.js');
    const described = (await storedCertificates(directory)).map((stored) => describeCertificate(stored, now));
    if (output === 'json') context.print(JSON.stringify(described, undefined, 2));
    else for (const line of certificateTable(described)) context.print(line);
    if (described.some(({ expires }) => Date.parse(expires) <= now)) context.endWith(1);
  },
};
