// Numbers of the market as people read them. Digits are Latin in every language, so that they can be compared and copied.

/** Atomic units of USDC as a decimal, exact: `100000` is `0.1`. */
export function usdc(atomic: string | number | bigint): string {
  const text = String(atomic)
  const sign = text.startsWith('-') ? '-' : ''
  const digits = text.slice(sign.length).padStart(7, '0')
  const whole = digits.slice(0, -6).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** What somebody typed as an amount of USDC, in atomic units; undefined for what is no amount. */
export function atomicOf(typed: string): string | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(typed.trim()) ?? []
  return whole === undefined ? undefined : String(BigInt(whole + fraction.padEnd(6, '0')))
}

export const count = (value: number): string => value.toLocaleString('en')

/** A share of 1; a dash for none. What is not all is never shown as all. */
export function percent(share: number | null): string {
  if (share === null) return '–'
  const shown = Math.floor(share * 1000) / 10
  return `${shown}%`
}

/** `1,500 ms`, from ten seconds on `12 s`. */
export const duration = (ms: number | null): string =>
  ms === null ? '–' : ms >= 10_000 ? `${Math.round(ms / 1000)} s` : `${count(ms)} ms`

export const dateOf = (timestamp: string): string => timestamp.slice(0, 10)
export const timeOf = (timestamp: string): string => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)}`

/** Puts values in the place of `{names}`. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

const DAY_MS = 24 * 3600 * 1000
/** The last 30 days (UTC) until today, oldest first: `2026-11-23`. */
export const lastDays = (now: number): readonly string[] =>
  Array.from({ length: 30 }, (_, at) => new Date(now - (29 - at) * DAY_MS).toISOString().slice(0, 10))

// Controls that reorder or hide what stands around them, as components/foreign.tsx names them.
const INVISIBLE = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g

/** Code that holds a stranger's JSON, with what is invisible in it written out as JSON has it: it means the same, and nothing turns around. */
export const visibleCode = (code: string): string =>
  code.replaceAll(
    INVISIBLE,
    (control) => `\\u${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )
