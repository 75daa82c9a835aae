/** Why a pod failed other than through its containers: it was refused or evicted, or exceeded its deadline. */
export interface PodEnd {
  readonly reason: string;
  readonly message: string;
  /** The node evicted the pod, which a condition shows, too. */
  readonly isDisruption?: boolean;
  /** The node never accepted the pod: its containers have no statuses. */
  readonly isRefused?: boolean;
}
