import { describe, expect, it } from 'vitest'
import type { CredentialSettings } from '../../../../schemas/credential-settings.ts'
import { rulesOf } from '../../../../src/egress/relay/prepare.ts'

const MIB = 1024 * 1024
const MINUTE = 60_000

describe('the bounds of requests of programs', () => {
  const boundsOf = (settings: CredentialSettings, isWebSocket?: boolean) => {
    const { maxRequestBytes, maxResponseBytes, clocks } = rulesOf(
      { header: 'authorization', scheme: 'Bearer', settings },
      isWebSocket,
    )
    return [maxRequestBytes, maxResponseBytes, clocks.firstByteMs, clocks.totalMs]
  }
  const usual = { max_request_bytes: 128 * 1024, max_response_bytes: MIB, timeout_ms: 30_000 }
  const below = { max_request_bytes: 128 * 1024 - 1, max_response_bytes: MIB - 1, timeout_ms: 29_999 }
  const defaults = [64 * MIB, 1024 * MIB, 10 * MINUTE, 60 * MINUTE]
  const relay = { max_request_bytes: 5, max_response_bytes: 6, first_byte_ms: 700, total_ms: 800 }

  it.each<[what: string, settings: CredentialSettings, bounds: number[]]>([
    ['their own defaults where nothing is set', {}, defaults],
    ['their own defaults where the limits of callers are the usual ones', { limits: usual }, defaults],
    ['their own defaults where callers may have more', { limits: { timeout_ms: 90_000 } }, defaults],
    ['the limits that were lowered', { limits: below }, [128 * 1024 - 1, MIB - 1, 29_999, 60 * MINUTE]],
    ['one that was lowered alone', { limits: { max_response_bytes: 9 } }, defaults.with(1, 9)],
    ['what the operator says of programs', { limits: below, relay }, [5, 6, 700, 800]],
    [
      'that also where it is more',
      { limits: below, relay: { total_ms: 90_000 } },
      [131_071, MIB - 1, 29_999, 90_000],
    ],
  ])('are %s', (_, settings, bounds) => {
    expect(boundsOf(settings)).toEqual(bounds)
  })

  it('let a WebSocket last, which has to begin in the time that was lowered', () => {
    expect(boundsOf({ limits: below }, true).slice(2)).toEqual([29_999, 60 * MINUTE])
  })
})
