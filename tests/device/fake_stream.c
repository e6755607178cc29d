// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fake_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, OUT_OF_MEMORY = 2 };

struct item {
  struct item* next;
  fake_operation operation;
  char arguments[];
};

struct stream {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  struct item *first, *last;
  int busy;  // its thread performs an operation, or is about to
  int has_thread;
  struct stream* made_before;  // programs may leave streams to the driver
};

static struct stream* last_made;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static struct stream of_null = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct stream* stream_at(void* handle) {
  return handle ? handle : &of_null;
}

void* fake_stream_new(void) {
  struct stream* s = calloc(1, sizeof *s);
  if (!s) return NULL;
  pthread_mutex_init(&s->mutex, NULL);
  pthread_cond_init(&s->changed, NULL);
  pthread_mutex_lock(&making);
  s->made_before = last_made;
  last_made = s;
  pthread_mutex_unlock(&making);
  return s;
}

static void* perform(void* argument) {
  struct stream* s = argument;
  pthread_mutex_lock(&s->mutex);
  for (;;) {
    while (!s->first) {
      s->busy = 0;
      pthread_cond_broadcast(&s->changed);
      pthread_cond_wait(&s->changed, &s->mutex);
    }
    struct item* item = s->first;
    s->first = item->next;
    pthread_mutex_unlock(&s->mutex);
    (void)item->operation(item->arguments);
    free(item);
    pthread_mutex_lock(&s->mutex);
  }
  return NULL;
}

int fake_stream_do(void* handle, int waits, fake_operation operation, const void* arguments, size_t bytes) {
  struct stream* s = stream_at(handle);
  pthread_mutex_lock(&s->mutex);
  if (!waits && !s->busy) {
    pthread_mutex_unlock(&s->mutex);
    return operation(arguments);
  }
  int error = SUCCESS;
  struct item* item = malloc(sizeof *item + bytes);
  pthread_t thread;
  if (!item) error = OUT_OF_MEMORY;
  if (!error && !s->has_thread) error = pthread_create(&thread, NULL, perform, s) == 0 ? SUCCESS : OUT_OF_MEMORY;
  if (error) {
    free(item);
    pthread_mutex_unlock(&s->mutex);
    return error;
  }
  if (!s->has_thread) pthread_detach(thread);
  s->has_thread = s->busy = 1;
  item->next = NULL;
  item->operation = operation;
  memcpy(item->arguments, arguments, bytes);
  if (s->first) {
    s->last->next = item;
  } else {
    s->first = item;
  }
  s->last = item;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->mutex);
  return SUCCESS;
}

int fake_stream_is_busy(void* handle) {
  struct stream* s = stream_at(handle);
  pthread_mutex_lock(&s->mutex);
  const int busy = s->busy;
  pthread_mutex_unlock(&s->mutex);
  return busy;
}

int fake_stream_finish(void* handle) {
  struct stream* s = stream_at(handle);
  pthread_mutex_lock(&s->mutex);
  while (s->busy) pthread_cond_wait(&s->changed, &s->mutex);
  pthread_mutex_unlock(&s->mutex);
  return SUCCESS;
}
