/** Why a pod has failed beside its containers: refused by the node, evicted, over its deadline. */
export interface PodEnd {
  readonly reason: string;
  readonly message: string;
  /** The node ended it for others, which a condition says, too. */
  readonly isDisruption?: boolean;
  /** The node never took it: there is nothing to say of its containers. */
  readonly isRefused?: boolean;
}
