// The counts of limits that processes tell each other, in Redis: a hash for each caller with a field for each process, gone with its window. The clock is
// the server's.
import type { Logger } from '../../lib/log.ts'
import type { RateCount } from '../ports/rates.ts'
import { createRedisClient, keyOf } from './client.ts'

export interface RedisRates {
  /**
   * Keeps what this process has counted, in place of what it told before.
   * @returns what others have in windows that are still open
   * @throws where the server does not answer within a moment
   */
  readonly exchange: (counts: readonly RateCount[]) => Promise<readonly RateCount[]>
  readonly close: () => Promise<void>
}

// ARGV: this process, then how much was used and how long is left for each key. Answers [index, used, left] of each other process.
const EXCHANGE = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local others = {}
for index, key in ipairs(KEYS) do
  local left = tonumber(ARGV[2 * index + 1])
  redis.call('HSET', key, ARGV[1], ARGV[2 * index] .. ' ' .. (now + left))
  if redis.call('PTTL', key) < left then redis.call('PEXPIRE', key, left) end
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    if fields[i] ~= ARGV[1] then
      local used, ends = string.match(fields[i + 1], '^(%d+) (%d+)$')
      if used and tonumber(ends) > now then
        others[#others + 1] = { index - 1, tonumber(used), tonumber(ends) - now }
      else
        redis.call('HDEL', key, fields[i])
      end
    end
  end
end
return others`

const RECONNECT_MS = 1000

/** Connects in the background, again and again: a gateway starts, and goes on, without it. */
export function openRedisRates({
  url,
  bootId,
  log,
}: {
  readonly url: string
  readonly bootId: string
  readonly log: Pick<Logger, 'info' | 'warn'>
}): RedisRates {
  const client = createRedisClient(url, RECONNECT_MS)
  let isLost = false
  client.on('error', (thrown: unknown) => {
    // Once, and not for each time that it is tried again. The address may hold a password; what the driver says does not.
    if (!isLost) log.warn({ err: thrown }, 'Redis does not answer: limits are shared through the database')
    isLost = true
  })
  client.on('ready', () => {
    if (isLost) log.info('Redis answers again')
    isLost = false
  })
  void client.connect().catch(() => undefined)

  return {
    async exchange(counts) {
      const told = (await client.eval(EXCHANGE, {
        keys: counts.map(({ name }) => keyOf(name)),
        arguments: [
          bootId,
          ...counts.flatMap(({ used, leftMs }) => [String(used), String(Math.max(1, leftMs))]),
        ],
      })) as [number, number, number][]
      return told.flatMap(([index, used, leftMs]) => {
        const name = counts[index]?.name
        return name === undefined ? [] : [{ name, used, leftMs }]
      })
    },
    async close() {
      if (client.isOpen) client.destroy()
    },
  }
}

/** @returns what asks `first`, and the other where that one does not answer */
export const orElse =
  <T, R>(first: (input: T) => Promise<R>, other: (input: T) => Promise<R>) =>
  (input: T): Promise<R> =>
    first(input).catch(() => other(input))
