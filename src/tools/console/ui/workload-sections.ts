import { code, containerSections, detail, details, link, plain, type Section, volumeSection } from './details.js';
import { dig, listAt, textAt } from './dig.js';

/** Where a pod runs and under which account, its containers and volumes. */
export function podSections(pod: unknown, namespace: string): readonly Section[] {
  const spec = dig(pod, 'spec');
  const statuses = [
    ...listAt(pod, 'status', 'initContainerStatuses'),
    ...listAt(pod, 'status', 'containerStatuses'),
    ...listAt(pod, 'status', 'ephemeralContainerStatuses'),
  ];
  const addresses = listAt(pod, 'status', 'podIPs').map((each) => textAt(each, 'ip'));
  return [
    ...details('Pod', [
      ...detail('Node', link('', 'nodes', '', textAt(spec, 'nodeName'))),
      ...detail('Address', code(addresses.join(', '))),
      ...detail('Service account', link('', 'serviceaccounts', namespace, textAt(spec, 'serviceAccountName'))),
      ...detail('Quality of service', plain(textAt(pod, 'status', 'qosClass'))),
      ...detail('Priority', link('scheduling', 'priorityclasses', '', textAt(spec, 'priorityClassName'))),
      ...detail('Restarts', plain(textAt(spec, 'restartPolicy'))),
    ]),
    ...containerSections(spec, statuses, namespace),
    ...volumeSection(spec, namespace),
  ];
}

/** The replicas of a workload, and the containers and volumes of its template. */
export function workloadSections(object: unknown, namespace: string): readonly Section[] {
  const spec = dig(object, 'spec');
  const template = dig(spec, 'template', 'spec');
  const strategy = textAt(spec, 'strategy', 'type') || textAt(spec, 'updateStrategy', 'type');
  return [
    ...details('Workload', [
      ...detail(
        'Replicas wanted',
        plain(textAt(spec, 'replicas') || textAt(object, 'status', 'desiredNumberScheduled')),
      ),
      ...detail(
        'Up to date',
        plain(textAt(object, 'status', 'updatedReplicas') || textAt(object, 'status', 'updatedNumberScheduled')),
      ),
      ...detail(
        'Available',
        plain(textAt(object, 'status', 'availableReplicas') || textAt(object, 'status', 'numberAvailable')),
      ),
      ...detail('Strategy', plain(strategy)),
      ...detail('Service', link('', 'services', namespace, textAt(spec, 'serviceName'))),
      ...detail('Service account', link('', 'serviceaccounts', namespace, textAt(template, 'serviceAccountName'))),
    ]),
    ...containerSections(template, [], namespace),
    ...volumeSection(template, namespace),
  ];
}

/** The progress of a job, and what it runs. */
export function jobSections(job: unknown, namespace: string): readonly Section[] {
  const template = dig(job, 'spec', 'template', 'spec');
  return [
    ...details('Job', [
      ...detail(
        'Succeeded',
        plain(`${textAt(job, 'status', 'succeeded') || 0} of ${textAt(job, 'spec', 'completions') || 1}`),
      ),
      ...detail('Active', plain(textAt(job, 'status', 'active'))),
      ...detail('Failed', plain(textAt(job, 'status', 'failed'))),
      ...detail('Tries at most', plain(textAt(job, 'spec', 'backoffLimit'))),
      ...detail('Started', plain(textAt(job, 'status', 'startTime'))),
      ...detail('Ended', plain(textAt(job, 'status', 'completionTime'))),
    ]),
    ...containerSections(template, [], namespace),
    ...volumeSection(template, namespace),
  ];
}

/** When a CronJob runs, and what. */
export function cronJobSections(object: unknown, namespace: string): readonly Section[] {
  const template = dig(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec');
  const active = listAt(object, 'status', 'active').flatMap((each) =>
    link('batch', 'jobs', namespace, textAt(each, 'name')),
  );
  return [
    ...details('Schedule', [
      ...detail('Schedule', code(textAt(object, 'spec', 'schedule'))),
      ...detail('Time zone', plain(textAt(object, 'spec', 'timeZone'))),
      ...detail('Runs that overlap', plain(textAt(object, 'spec', 'concurrencyPolicy'))),
      ...detail('Last run', plain(textAt(object, 'status', 'lastScheduleTime'))),
      ...detail('Last success', plain(textAt(object, 'status', 'lastSuccessfulTime'))),
      ...detail('Running', active),
    ]),
    ...containerSections(template, [], namespace),
  ];
}
