// The mandate that the examples of action permits show.
import type { z } from 'zod'
import type { MandateTerms } from '../schemas/actions.ts'
import { MANDATE_MAX_MS } from '../src/actions/ports.ts'

const DAY_MS = 24 * 3600 * 1000

/**
 * Works for whoever sends it unchanged, but for the id of the credential. It expires as late as a mandate may, on a whole
 * day: a process that shows it may run for long.
 * @param now milliseconds; when the process starts
 */
export const exampleMandate = (now: number): z.input<typeof MandateTerms> => ({
  purpose: 'Report broken links',
  credential_id: 'cred_0000000000000000000000000000000000',
  host: 'api.github.com',
  path_prefix: '/repos/acme/site/issues',
  methods: ['POST'],
  max_calls: 5,
  expires_at: new Date(Math.floor((now + MANDATE_MAX_MS) / DAY_MS) * DAY_MS).toISOString(),
})
