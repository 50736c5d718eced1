//! PHP objects that carry a Rust value.
//!
//! ext-php-rs's `ZendClassObject` and `ZendObjectHandlers` are not used. A cycle through a PHP value in the Rust value is never collected
//! there, and `(bool)` and `==` cannot be decided: two different objects are equal. `new` takes 1,371 instructions with one argument, where
//! `new TokenBucket` takes 1,032 with five. `ZendObject::new` makes objects of abstract classes.

use super::declare::{self, Class, Method};
use super::versions::SUCCESS;
use ext_php_rs::ffi;
use ext_php_rs::flags::ClassFlags;
use ext_php_rs::types::{ZendHashTable, Zval};
use ext_php_rs::zend::ClassEntry;
use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A Rust value that a PHP object carries.
pub trait Native: Sized + 'static {
    /// The handlers of the objects that carry such a value: by `own_handlers!()`.
    fn handlers() -> &'static Handlers;

    /// Adds the properties that `var_dump()` and `(array)` show. PHPUnit's `assertEquals()` compares these.
    fn dump(&self, properties: &mut ZendHashTable);

    /// What `(bool)`, a condition and a comparison with a bool take the object for. None for a class whose objects are true, as
    /// any object, and equal to no bool.
    fn truth(&self) -> Option<bool> {
        None
    }

    /// The PHP values that it holds. The garbage collector needs them to find cycles of references.
    fn gc_roots(&self) -> &[Zval] {
        &[]
    }
}

/// Gives a [`Native`] type its own table of handlers.
macro_rules! own_handlers {
    () => {
        fn handlers() -> &'static $crate::php::engine::object::Handlers {
            use $crate::php::engine::object::Handlers;
            static HANDLERS: Handlers = Handlers::new();
            &HANDLERS
        }
    };
}
pub(crate) use own_handlers;

/// The engine's table of handlers for the objects that carry one type of value.
pub struct Handlers(AtomicPtr<ffi::zend_object_handlers>);

impl Handlers {
    /// A table that no class uses yet.
    pub const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }
}

/// Registers a class without a parent whose objects, and those of the classes that extend it, carry a `T`. They cannot
/// be cloned or serialized, and each is equal to itself alone. At startup only.
pub fn class<T: Native>(
    class: &Class,
    name: &str,
    flags: ClassFlags,
    methods: &[Method],
    interfaces: &[&Class],
) {
    declare::class(class, name, flags, methods, ptr::null_mut(), interfaces);
    // SAFETY: the engine's table of standard handlers is plain data, complete before extensions start.
    let mut handlers = unsafe { ffi::std_object_handlers };
    // An int before PHP 8.6, a size since.
    handlers.offset = offset_of!(Object<T>, std) as _;
    handlers.free_obj = Some(free::<T>);
    handlers.clone_obj = None;
    handlers.compare = Some(compare::<T>);
    handlers.get_properties_for = Some(properties_for::<T>);
    handlers.get_debug_info = Some(debug_info::<T>);
    handlers.get_gc = Some(collect_gc_roots::<T>);
    handlers.cast_object = Some(cast::<T>);
    // Leaked: objects point to the table until the process ends.
    T::handlers().0.store(Box::leak(Box::new(handlers)), Ordering::Relaxed);
    let entry = class.as_ptr();
    // SAFETY: the class is registered, and no other thread runs during startup.
    unsafe {
        (*entry).__bindgen_anon_2.create_object = Some(create::<T>);
        (*entry).ce_flags |= ffi::ZEND_ACC_NOT_SERIALIZABLE;
    }
}

/// The memory of an object: the value, then the engine's part. The engine's part is last because the
/// properties of a class follow it.
#[repr(C)]
struct Object<T> {
    /// `None` until the constructor has run.
    value: Option<T>,
    std: ffi::zend_object,
}

impl<T: Native> Object<T> {
    /// # Safety
    ///
    /// `object` must be an object made by `create::<T>`.
    #[inline]
    unsafe fn from_std(object: *mut ffi::zend_object) -> *mut Self {
        // SAFETY: by contract `object` is the `std` of an Object<T>.
        unsafe { object.byte_sub(offset_of!(Self, std)).cast() }
    }
}

/// Whether an object carries a `T`. The objects of a class that `disable_classes` names carry none.
pub fn carries<T: Native>(object: &ffi::zend_object) -> bool {
    ptr::eq(object.handlers, T::handlers().0.load(Ordering::Relaxed))
}

/// Borrows the value of an object; `None` before its constructor has run.
///
/// # Safety
///
/// `object` must carry a `T`, and must not be freed or constructed again while the reference lives: no
/// PHP code may run meanwhile.
#[inline]
pub unsafe fn borrow<'a, T: Native>(object: *mut ffi::zend_object) -> Option<&'a T> {
    // SAFETY: by contract; an object that carries a `T` was made by `create::<T>`.
    unsafe { (*Object::<T>::from_std(object)).value.as_ref() }
}

/// Borrows the value of an object to change it; `None` before its constructor has run.
///
/// # Safety
///
/// That of [`borrow`]; and no other reference to the value may be alive.
#[inline]
pub unsafe fn borrow_mut<'a, T: Native>(object: *mut ffi::zend_object) -> Option<&'a mut T> {
    // SAFETY: by contract; an object that carries a `T` was made by `create::<T>`.
    unsafe { (*Object::<T>::from_std(object)).value.as_mut() }
}

/// Sets the value of an object, and drops the previous value.
///
/// # Safety
///
/// `object` must carry a `T`, and no reference to its value may be alive.
#[inline]
pub unsafe fn construct<T: Native>(object: *mut ffi::zend_object, value: T) {
    // SAFETY: by contract.
    let old = unsafe { (&raw mut (*Object::<T>::from_std(object)).value).replace(Some(value)) };
    // Last, because the value may hold the last reference to a PHP object, whose destructor may construct
    // this object again or free it.
    drop(old);
}

/// Makes an object of a class whose objects carry a `T`.
#[inline]
pub fn create_with<T: Native>(class: &Class, value: T) -> Zval {
    let mut result = Zval::new();
    // SAFETY: the class is registered; no reference to the new object's value exists, which is `None` and
    // needs no drop.
    unsafe {
        let object = create::<T>(class.as_ptr());
        (&raw mut (*Object::<T>::from_std(object)).value).write(Some(value));
        // The new object's only reference.
        result.value.obj = object;
    }
    result.u1.type_info = ffi::IS_OBJECT_EX;
    result
}

/// A property that `class` has declared, of an object of that class.
pub fn own_property(object: &ffi::zend_object, class: &Class, name: &str) -> Zval {
    let mut scratch = Zval::new();
    // SAFETY: an object of the class. What the engine returns is the property, or `scratch`.
    let found = unsafe {
        let object = ptr::from_ref(object).cast_mut();
        let (bytes, length) = (name.as_ptr().cast(), name.len());
        ffi::zend_read_property(class.as_ptr(), object, bytes, length, true, &raw mut scratch)
            .as_ref()
    };
    found.map_or_else(Zval::null, Zval::shallow_clone)
}

unsafe extern "C" fn create<T: Native>(class: *mut ClassEntry) -> *mut ffi::zend_object {
    const { assert!(align_of::<Object<T>>() <= 8, "the engine aligns objects to 8 bytes") };
    // SAFETY: the engine passes a class with this handler, or one that extends it. The memory has room
    // for Object<T> and the class's properties. The value is written before the engine sees the object,
    // and the engine's part is initialized as every create_object handler does.
    unsafe {
        let object: *mut Object<T> =
            ffi::ext_php_rs_zend_object_alloc(size_of::<Object<T>>(), class).cast();
        (&raw mut (*object).value).write(None);
        let std = &raw mut (*object).std;
        ffi::zend_object_std_init(std, class);
        ffi::object_properties_init(std, class);
        (*std).handlers = T::handlers().0.load(Ordering::Relaxed);
        std
    }
}

unsafe extern "C" fn free<T: Native>(object: *mut ffi::zend_object) {
    // SAFETY: the engine calls this once for each object, and frees the memory afterwards. The value is
    // taken out first: the destructors of the properties run below and may call methods of this object.
    let value = unsafe { (&raw mut (*Object::<T>::from_std(object)).value).replace(None) };
    // SAFETY: a live object, which the engine frees. WeakReferences lose it here.
    unsafe { ffi::zend_object_std_dtor(object) };
    // Last, because the value may hold the last reference to a PHP object, whose destructor must not
    // find this object.
    drop(value);
}

unsafe extern "C" fn debug_info<T: Native>(
    object: *mut ffi::zend_object,
    is_temporary: *mut i32,
) -> *mut ZendHashTable {
    // SAFETY: the engine passes a live object with this handler and a place for the flag. The copy of
    // its properties belongs to this function until it returns it as temporary; then the engine frees it.
    unsafe {
        *is_temporary = 1;
        let properties = ffi::zend_array_dup(ffi::zend_std_get_properties(object));
        let shown = std::panic::AssertUnwindSafe(|| {
            if let Some(value) = borrow::<T>(object) {
                value.dump(&mut *properties);
            }
        });
        // After a panic the properties added so far are shown.
        let _ = std::panic::catch_unwind(shown);
        properties
    }
}

/// The properties for a purpose: `(array)` has those that `var_dump()` shows.
unsafe extern "C" fn properties_for<T: Native>(
    object: *mut ffi::zend_object,
    purpose: ffi::zend_prop_purpose,
) -> *mut ZendHashTable {
    // SAFETY: the engine passes a live object with this handler. It owns one reference to what is returned, as to the
    // temporary table of `debug_info`.
    unsafe {
        match purpose {
            ffi::_zend_prop_purpose_ZEND_PROP_PURPOSE_ARRAY_CAST => debug_info::<T>(object, &mut 0),
            _ => ffi::zend_std_get_properties_for(object, purpose),
        }
    }
}

/// Compares an object with a bool by its truth. It is equal to nothing else: the engine has found out before that the two
/// are not the same object.
unsafe extern "C" fn compare<T: Native>(left: *mut Zval, right: *mut Zval) -> c_int {
    // SAFETY: the engine passes two live values, and an object with this handler is one of them.
    let (left, right) = unsafe { (&*left, &*right) };
    let truth = |value: &Zval| match value.object() {
        // SAFETY: an object that carries a `T`; no PHP code runs here.
        Some(object) if carries::<T>(object) => unsafe {
            borrow::<T>(ptr::from_ref(object).cast_mut()).and_then(T::truth)
        },
        Some(_) => None,
        None => value.bool(),
    };
    match (truth(left), truth(right)) {
        (Some(a), Some(b)) if left.is_object() != right.is_object() => a.cmp(&b) as c_int,
        // SAFETY: live values, of which the function reads nothing.
        _ => unsafe {
            ffi::zend_objects_not_comparable(
                ptr::from_ref(left).cast_mut(),
                ptr::from_ref(right).cast_mut(),
            )
        },
    }
}

unsafe extern "C" fn cast<T: Native>(
    object: *mut ffi::zend_object,
    result: *mut Zval,
    kind: c_int,
) -> c_int {
    // SAFETY: the engine passes a live object with this handler, and a place for the result that holds nothing to free.
    unsafe {
        match borrow::<T>(object).and_then(T::truth) {
            Some(truth) if kind == ffi::_IS_BOOL as c_int => {
                (*result).u1.type_info = if truth { ffi::IS_TRUE } else { ffi::IS_FALSE };
                SUCCESS
            }
            _ => ffi::zend_std_cast_object_tostring(object, result, kind),
        }
    }
}

unsafe extern "C" fn collect_gc_roots<T: Native>(
    object: *mut ffi::zend_object,
    table: *mut *mut Zval,
    count: *mut i32,
) -> *mut ZendHashTable {
    // SAFETY: the engine passes a live object with this handler, and places for the table and its length.
    // The roots stay where they are until the object changes, and the engine only reads them. The
    // properties that a class in PHP adds are in the returned table.
    unsafe {
        let roots = borrow::<T>(object).map_or(&[][..], T::gc_roots);
        if roots.is_empty() {
            return ffi::zend_std_get_gc(object, table, count);
        }
        *table = roots.as_ptr().cast_mut();
        *count = roots.len() as i32;
        ffi::zend_std_get_properties(object)
    }
}
