/** How far a feature has come; the names are those of the metric `kubernetes_feature_enabled`. */
export type FeatureStage = 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED';
