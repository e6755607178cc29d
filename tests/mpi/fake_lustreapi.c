// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library that stands for Lustre's: files have the striping of the layout with which this process made them, all
// others that of a folder (one target, 1 MiB). More than 8 targets are refused.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

struct llapi_layout {
  uint64_t count;
  uint64_t size;
  uint64_t first;
};

static struct {
  ino_t file;
  struct llapi_layout layout;
} made[64];
static int made_count = 0;

struct llapi_layout* llapi_layout_alloc(void) {
  struct llapi_layout* layout = malloc(sizeof *layout);
  if (layout != NULL) *layout = (struct llapi_layout){1, 1 << 20, 0};
  return layout;
}

void llapi_layout_free(struct llapi_layout* layout) {
  free(layout);
}

int llapi_layout_stripe_count_set(struct llapi_layout* layout, uint64_t count) {
  if (count > 8) {
    errno = EINVAL;
    return -1;
  }
  layout->count = count;
  return 0;
}

int llapi_layout_stripe_size_set(struct llapi_layout* layout, uint64_t size) {
  layout->size = size;
  return 0;
}

int llapi_layout_ost_index_set(struct llapi_layout* layout, int stripe, uint64_t target) {
  if (stripe == 0) layout->first = target;
  return stripe == 0 ? 0 : -1;
}

int llapi_layout_file_open(const char* path, int flags, mode_t mode, const struct llapi_layout* layout) {
  const int fd = open(path, flags, mode);
  struct stat facts;
  if (fd >= 0 && fstat(fd, &facts) == 0 && made_count < 64) {
    made[made_count].file = facts.st_ino;
    made[made_count++].layout = *layout;
  }
  return fd;
}

struct llapi_layout* llapi_layout_get_by_fd(int fd, uint32_t flags) {
  (void)flags;
  struct llapi_layout* layout = llapi_layout_alloc();
  struct stat facts;
  if (layout == NULL || fstat(fd, &facts) != 0) return layout;
  for (int i = made_count - 1; i >= 0; --i) {
    if (made[i].file != facts.st_ino) continue;
    *layout = made[i].layout;
    break;
  }
  return layout;
}

int llapi_layout_stripe_count_get(const struct llapi_layout* layout, uint64_t* count) {
  *count = layout->count;
  return 0;
}

int llapi_layout_stripe_size_get(const struct llapi_layout* layout, uint64_t* size) {
  *size = layout->size;
  return 0;
}
