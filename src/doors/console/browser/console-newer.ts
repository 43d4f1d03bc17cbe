// Newer attempts than a table shows.
import { mount } from '../../site/browser/lib/mount.ts'
import { Newer } from '../components/newer.tsx'

mount('console-newer', Newer)
