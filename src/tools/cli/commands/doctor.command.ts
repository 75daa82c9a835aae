import { parseOptions } from '../../../base/config/parse-options.js';
import { type Command, parseRequest } from '../command.js';
import { doctorGroups } from '../doctor/doctor-groups.js';

const defaults = { 'cert-dir': '.plinth/pki' } as const;

export const doctorCommand: Command = {
  name: 'doctor',
  summary:
    'Check this machine, the database, certificates and a kubeconfig, and say how to fix what is wrong. ' +
    'Takes the flags and variables of serve and controllers. Exits with 1 if something does not work.',
  groups: doctorGroups,
  defaults,
  async run(context) {
    const options = parseOptions(parseRequest(doctorGroups, defaults, context));
    const { examine } = await import('../doctor/examine.js');
    const { findingLines } = await import('../doctor/finding.js');
    const findings = await examine(doctorGroups, options, context.environment.KUBECONFIG, context.signals.signal);
    if (options.doctor.output === 'json') context.print(JSON.stringify(findings, undefined, 2));
    else for (const line of findingLines(findings)) context.print(line);
    if (findings.some(({ verdict }) => verdict === 'error')) context.endWith(1);
  },
};
