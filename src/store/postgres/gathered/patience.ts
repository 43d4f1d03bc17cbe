// How long the statement of a group waits for rows that somebody else keeps locked.

/** `short`: SHORT_WAIT_MS for each lock, then nothing is done. `long`: as long as a statement may take. */
export type Patience = 'short' | 'long'

export const SHORT_WAIT_MS = 100

/** A condition, to stand where the first rows are locked. The setting ends with the statement. */
const SHORT = `AND (SELECT set_config('lock_timeout', '${SHORT_WAIT_MS}', true)) IS NOT NULL`

/** @param text of the condition's place */
export const byPatience = (text: (patience: string) => string): Readonly<Record<Patience, string>> => ({
  short: text(SHORT),
  long: text(''),
})
