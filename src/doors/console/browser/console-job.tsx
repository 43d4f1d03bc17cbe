// How far a job is.
import { mount } from '../../site/browser/lib/mount.ts'
import { Progress } from '../components/job/progress.tsx'

mount('console-job', Progress)
