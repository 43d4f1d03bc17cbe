// Reads answers of tools as pages show them. Their types are known to the gateway and not to a page: a page that is older than the gateway
// it asks, or the other way round, shows what it finds and never fails.

export type Members = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const NOTHING: Members = {}

export const recordAt = (value: unknown, name: string): Members => {
  const member = isRecord(value) ? value[name] : undefined
  return isRecord(member) ? member : NOTHING
}

export const listAt = (value: unknown, name: string): readonly unknown[] => {
  const member = isRecord(value) ? value[name] : undefined
  return Array.isArray(member) ? member : []
}

/** The objects of a list. */
export const recordsAt = (value: unknown, name: string): Members[] => listAt(value, name).filter(isRecord)

/** A text that says something; undefined for every other value. */
export const textAt = (value: unknown, name: string): string | undefined => {
  const member = isRecord(value) ? value[name] : undefined
  return typeof member === 'string' && member !== '' ? member : undefined
}

export const numberAt = (value: unknown, name: string): number | undefined => {
  const member = isRecord(value) ? value[name] : undefined
  return typeof member === 'number' ? member : undefined
}

/** The texts of a list. */
export const textsAt = (value: unknown, name: string): string[] =>
  listAt(value, name).filter((item) => typeof item === 'string')

/** Puts what is said into a sentence: `{n} more`. */
export const say = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

/** Digits as everybody copies them, whatever the language of the page. */
export const count = (value: number): string => value.toLocaleString('en')
