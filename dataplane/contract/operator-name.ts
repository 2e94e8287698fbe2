/** The operator owns fields, leads and asks the API server under this name; objects that it made carry it as `app.kubernetes.io/managed-by`. */
export const OPERATOR_NAME = 'logpipeline-operator'
