/** Types with at most one member set, and the field that selects it, if there is one. */
export const unions: Readonly<
  Record<string, { readonly members: readonly string[]; readonly discriminator?: string }>
> = {
  'core.v1.AppArmorProfile': { members: ['localhostProfile'], discriminator: 'type' },
  'core.v1.PodSchedulingGroup': { members: ['podGroupName'] },
  'core.v1.SeccompProfile': { members: ['localhostProfile'], discriminator: 'type' },
  'flowcontrol.v1.LimitResponse': { members: ['queuing'], discriminator: 'type' },
  'flowcontrol.v1.PriorityLevelConfigurationSpec': { members: ['exempt', 'limited'], discriminator: 'type' },
  'flowcontrol.v1.Subject': { members: ['group', 'serviceAccount', 'user'], discriminator: 'kind' },
  'lifecycle.v1alpha1.EvictionRequestTarget': { members: ['pod'] },
  'lifecycle.v1alpha1.EvictionTarget': { members: ['pod'] },
  'scheduling.v1alpha3.CompositeDisruptionMode': { members: ['all', 'single'] },
  'scheduling.v1alpha3.CompositePodGroupSchedulingPolicy': { members: ['basic', 'gang'] },
  'scheduling.v1alpha3.DisruptionMode': { members: ['all', 'single'] },
  'scheduling.v1alpha3.PodGroupSchedulingPolicy': { members: ['basic', 'gang'] },
  'scheduling.v1alpha3.WorkloadPodGroupDisruptionMode': { members: ['all', 'single'] },
  'scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy': { members: ['basic', 'gang'] },
  'scheduling.v1beta1.CompositeDisruptionMode': { members: ['all', 'single'] },
  'scheduling.v1beta1.CompositePodGroupSchedulingPolicy': { members: ['basic', 'gang'] },
  'scheduling.v1beta1.DisruptionMode': { members: ['all', 'single'] },
  'scheduling.v1beta1.PodGroupSchedulingPolicy': { members: ['basic', 'gang'] },
};
