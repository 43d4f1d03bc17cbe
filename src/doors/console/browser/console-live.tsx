// The live log.
import { mount } from '../../site/browser/lib/mount.ts'
import { Log } from '../components/live/log.tsx'

mount('console-live', Log)
