/** Versions of Airflow's REST API: `v1` of Airflow 2, `v2` of Airflow 3. */
export const API_VERSIONS = ['v1', 'v2'] as const
export type ApiVersion = (typeof API_VERSIONS)[number]
