/** The account and the group that own a file or a process. */

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}
