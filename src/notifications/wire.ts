// A target as callers see it: without its address.
import type { NotificationRecord } from '../../schemas/notification.ts'
import { toTimestamp, toTimestampOrNull } from '../lib/timestamp.ts'
import type { ShownTarget } from './ports.ts'

export const toNotificationRecord = (target: ShownTarget): NotificationRecord => ({
  notification_id: target.id,
  host: target.host,
  kinds: [...target.kinds],
  created_at: toTimestamp(target.createdAt),
  created_by: target.createdBy,
  told_at: toTimestampOrNull(target.toldAt),
  problem: target.problem,
  problem_at: toTimestampOrNull(target.problemAt),
})
