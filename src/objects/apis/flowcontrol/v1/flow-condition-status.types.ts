import { enumOf, type Infer } from '../../../../base/machinery/schema/index.js';

export const conditionStatus = enumOf('False', 'True', 'Unknown');
export type ConditionStatus = Infer<typeof conditionStatus>;
