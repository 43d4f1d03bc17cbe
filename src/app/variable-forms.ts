// Forms that several variables of the environment have: how the text is read, and what is said of one that does not fit.
import { z } from 'zod'
import { hasQueryOrFragment, hasUserinfo } from './addresses.ts'

export const list = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  )
export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
/** Deeper than 256 blocks nothing is replaced. */
export const toDepth = (blocks: string) => (Number(blocks) <= 256 ? Number(blocks) : undefined)
export const flag = z
  .enum(['0', '1'], { error: 'must be 0 or 1' })
  .default('0')
  .transform((value) => value === '1')
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .transform((text) => text.replace(/\/+$/, ''))

/** An address of this gateway, which everybody is told. */
export const ownUrl = httpUrl.refine(
  (text) => !hasUserinfo(text) && !hasQueryOrFragment(text),
  'must not hold a user name, password, query or fragment: it is published as it is',
)

export const isHttpUrl = (text: string) => httpUrl.safeParse(text).success
/** A host name without a port, as it stands in consent records. */
export const AllowedName = z
  .string()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be a host name in lower-case ASCII, without a port',
  )
