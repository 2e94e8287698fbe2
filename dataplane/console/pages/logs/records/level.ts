/** Levels, the most severe first. `OTHER` is what other writers call theirs. */
export const LEVELS = ['FATAL', 'ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE', 'OTHER'] as const
export type Level = (typeof LEVELS)[number]
