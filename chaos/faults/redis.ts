// Redis, through which replicas tell each other of limits, and which keeps nothing that has to last.
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { takeCredit } from '../spoil.ts'
import { startRedis, type TestRedis } from '../../test/support/redis.ts'

const FAULT_MS = 10_000

interface RedisScene extends CallScene {
  readonly redis: TestRedis
}

async function openWithRedis(): Promise<RedisScene> {
  const redis = await startRedis()
  const scene = await openCalls({
    engine: 'postgres',
    replicas: 2,
    envOf: async () => ({ GATEWAY_REDIS_URL: redis.url }),
    cleanUp: () => redis.stop(),
  })
  return {
    ...scene,
    redis,
    async check(patienceMs) {
      const verdict = await scene.check(patienceMs)
      // A password in a log, or nobody who noticed.
      const said = scene.replicas.map((replica) => replica.said())
      const problems = [
        ...said
          .filter((words) => words.includes(redis.password))
          .map(() => 'the password of Redis is in a log'),
        ...said
          .filter((words) => !words.includes('Redis does not answer'))
          .map(() => 'a replica did not say that Redis was gone'),
      ]
      return { ...verdict, problems: [...verdict.problems, ...problems] }
    },
  }
}

export const faults: readonly Fault<RedisScene>[] = [
  {
    name: 'Redis gone',
    command: 'kill -9 of `redis-server`, 10 s, and an empty one in its place',
    promise: 'no call waits or fails; limits are shared through the database meanwhile',
    notCovered: 'what a caller gets in the second in which replicas have told each other of nothing',
    open: openWithRedis,
    async inject({ redis }) {
      await redis.stop()
      await sleep(FAULT_MS)
      await redis.start()
    },
    control: takeCredit,
  },
]
